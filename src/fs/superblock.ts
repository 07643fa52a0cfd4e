// All parts of one mounted project: `assemble` makes them, and `file-system` passes them on. Each function takes the parts it
// needs, by name; none takes the whole. No behaviour of its own.

import type { Disk } from '../world/disk.ts'
import type { CommitQueue } from '../content/commit/commit-queue.ts'
import type { Reach } from '../content/reach/reach.ts'
import type { LateFiles } from '../content/commit/late-files.ts'
import type { WatchedFiles } from '../content/reach/watched-files.ts'
import type { Journal } from '../content/spool/journal.ts'
import type { PresignedUrls } from '../content/read/presigned-urls.ts'
import type { Reader } from '../content/read/reader.ts'
import type { SavedListings } from '../content/spool/saved-listings.ts'
import type { LostAndFound } from '../content/spool/lost-and-found.ts'
import type { Spool } from '../content/spool/spool.ts'
import type { UndoStore } from '../content/undo/undo-store.ts'
import type { Chance } from '../world/chance.ts'
import type { Clock } from '../world/clock.ts'
import type { ConflictCopies } from './attention/conflict-copies.ts'
import type { Log } from '../log.ts'
import type { AttributeStore } from './tree/attribute-store.ts'
import type { Owner } from './tree/attributes.ts'
import type { Notice } from './notice.ts'
import type { HandleTable } from './tree/handles.ts'
import type { TypePolicy } from './tree/names.ts'
import type { Undecided } from './unsent/undecided.ts'
import type { PathDepth } from './tree/path-depth.ts'
import type { RefusedNames } from './attention/refused-names.ts'
import type { ListedLocks } from './locks/hide-lock-documents.ts'
import type { LocalOnly } from './unsent/local-only.ts'
import type { Prefetch } from './ahead/prefetch.ts'
import type { RemoteContent } from './tree/remote-content.ts'
import type { Tree } from './tree/tree.ts'
import type { Sizes } from './calls/sizes.ts'
import type { Bursts } from './unsent/bursts.ts'
import type { CloseWait } from './unsent/close-wait.ts'
import type { WalkAhead } from './ahead/walk-ahead.ts'
import type { Saves } from './unsent/submit.ts'
import type { Claims } from './unsent/claims.ts'
import type { PinStore } from './pins/pin-store.ts'
import type { Pins } from './pins/pins.ts'
import type { Owners } from './unsent/owners.ts'
import type { SaveFailures } from './unsent/save-failures.ts'
import type { DamageReports } from './attention/damage-reports.ts'
import type { Settings } from './settings.ts'

export interface Superblock {
  readonly settings: Settings
  readonly files: WatchedFiles
  /** For calls that change something: knows what may still arrive. */
  readonly changing: LateFiles
  readonly reach: Reach
  readonly log: Log
  readonly tree: Tree
  readonly handles: HandleTable
  readonly journal: Journal
  readonly saved: SavedListings
  readonly spool: Spool
  readonly queue: CommitQueue
  readonly urls: PresignedUrls
  readonly reader: Reader
  readonly remote: RemoteContent
  readonly sizes: Sizes
  readonly closeWait: CloseWait
  readonly bursts: Bursts
  readonly walkAhead: WalkAhead
  readonly prefetch: Prefetch
  /** Paths that the person pinned. */
  readonly pinStore: PinStore
  readonly pins: Pins
  readonly types: TypePolicy
  readonly refusedNames: RefusedNames
  readonly undecided: Undecided
  readonly pathDepth: PathDepth
  readonly conflicts: ConflictCopies
  readonly attributes: AttributeStore
  readonly owner: Owner
  readonly clock: Clock
  readonly chance: Chance
  readonly disk: Disk
  readonly owners: Owners
  readonly claims: Claims
  readonly lost: LostAndFound
  /** Versions that programs here replaced or deleted. */
  readonly undo: UndoStore
  /** Files found damaged, or taken away, on this machine. */
  readonly damageReports: DamageReports
  /** Notifies the person. */
  readonly tell: (notice: Notice) => void
  /** Files that are on this machine only. */
  readonly localOnly: LocalOnly
  /** Documents of locks that listings showed, with `--share-locks`. */
  readonly listedLocks: ListedLocks
  /** Documents that the disk here refused to keep. */
  readonly saveFailures: SaveFailures
  /** Turns a document that was saved into an intention. */
  readonly saves: Saves
  /** Returns the size (bytes) from which the service was found to refuse documents. */
  readonly refusedBytes: () => number
  /** Copies the version at a path to this machine before it is destroyed, if a handle or a node still shows it. */
  readonly preserve: (path: string, signal: AbortSignal) => Promise<void>
}
