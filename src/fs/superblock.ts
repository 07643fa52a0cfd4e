// The state of one mounted project: what every operation works on. No behaviour of its own.

import { hostname } from 'node:os'
import type { Mimetype } from '../api/mimetypes.ts'
import type { CommitQueue } from '../content/commit/commit-queue.ts'
import type { WatchedFiles } from '../content/reach/watched-files.ts'
import type { Journal } from '../content/spool/journal.ts'
import type { PresignedUrls } from '../content/read/presigned-urls.ts'
import type { Reader } from '../content/read/reader.ts'
import type { SavedListings } from '../content/spool/saved-listings.ts'
import type { LostAndFound } from '../content/spool/lost-and-found.ts'
import type { Spool } from '../content/spool/spool.ts'
import type { Clock } from '../clock.ts'
import type { ConflictCopies } from './conflict-copies.ts'
import type { Log } from '../log.ts'
import type { AttributeStore } from './tree/attribute-store.ts'
import type { Owner } from './tree/attributes.ts'
import type { Notice } from './notice.ts'
import type { HandleTable } from './tree/handles.ts'
import type { TypePolicy } from './tree/names.ts'
import type { RefusedNames } from './refused-names.ts'
import type { Resting } from './unsent/backup.ts'
import type { LocalOnly } from './unsent/local-only.ts'
import type { Prefetch } from './ahead/prefetch.ts'
import type { Tree } from './tree/tree.ts'
import type { WalkAhead } from './ahead/walk-ahead.ts'
import type { Claims } from './unsent/claims.ts'
import type { PinStore } from './pins/pin-store.ts'
import type { Pins } from './pins/pins.ts'
import type { Owners } from './unsent/owners.ts'
import { nameOf } from '../path.ts'

/** Options with their defaults filled in. */
export interface Settings {
  readonly cacheTtlMs: number
  readonly closeWaitMs: number
  readonly renameLimit: number
  readonly readOnly: boolean
  readonly keepConflicts: boolean
  readonly hostName: string
  readonly stateDir: string
  readonly cacheDir: string
  readonly settleAfterMs: number
}

export interface Superblock {
  readonly settings: Settings
  readonly files: WatchedFiles
  readonly log: Log
  readonly tree: Tree
  readonly handles: HandleTable
  readonly journal: Journal
  readonly saved: SavedListings
  readonly spool: Spool
  readonly queue: CommitQueue
  readonly urls: PresignedUrls
  readonly reader: Reader
  readonly walkAhead: WalkAhead
  readonly prefetch: Prefetch
  /** What the person pinned. */
  readonly pinStore: PinStore
  readonly pins: Pins
  readonly types: TypePolicy
  readonly refusedNames: RefusedNames
  readonly conflicts: ConflictCopies
  readonly attributes: AttributeStore
  readonly owner: Owner
  readonly clock: Clock
  readonly owners: Owners
  readonly claims: Claims
  readonly lost: LostAndFound
  /** Tells the person, who asked nothing. */
  readonly tell: (notice: Notice) => void
  /** Files that are on this machine only. */
  readonly localOnly: LocalOnly
  /** Documents that became backups a moment ago, by the path they left. */
  readonly resting: Map<string, Resting>
}

export const defaultHostName = (): string => hostname()

/** The mimetype a document is sent with; the path's last segment decides where it can. */
export function mimetypeOf(
  types: TypePolicy,
  path: string,
  head: () => Promise<Uint8Array>,
): Promise<Mimetype> {
  return types.mimetypeOf(nameOf(path), head)
}
