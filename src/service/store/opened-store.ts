// The store as the service sees it, whichever engine keeps it, and where it is. Shapes only.

import type { Log } from '../../log.ts'
import type { Contents } from '../blobs/contents.ts'
import type { S3Address } from '../blobs/s3/address.ts'
import type { LinkSecrets } from '../downloads/signer.ts'
import type { Tallies } from '../edge/request-rates.ts'
import type { ChangeArgument, ChangeName, ChangeResult } from './changes.ts'
import type { Store } from './database.ts'
import type { PostgresAddress } from './postgres/address.ts'

/** Where a store is. Travels to other threads as it is. */
export type StorePlace = EmbeddedPlace | SharedPlace

export interface EmbeddedPlace {
  /** Everything is in it. */
  readonly dataDir: string
  readonly database?: undefined
}

export interface SharedPlace {
  readonly database: PostgresAddress
  /** Where larger contents are: a bucket, else a folder. */
  readonly blobs?: S3Address | undefined
  readonly dataDir?: string | undefined
  /** How long content that nothing refers to is kept where nodes share a store, in milliseconds; a day where absent. */
  readonly graceMs?: number | undefined
}

export interface OpenedStore {
  readonly store: Store
  readonly commits: Commits
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Other nodes may use it: what one of them leaves undone another one does. */
  readonly isShared: boolean
  /** Longer ones cannot be kept, whatever the limits say. 0 is no limit. */
  readonly maxPathBytes: number
  /** The secrets that sign presigned links. */
  linkSecrets(): Promise<LinkSecrets>
  openContents(log: Log): Promise<Contents>
  /** `whenCleared` resolves when what was deleted so far is cleared. */
  tidying(whenCleared: () => Promise<unknown>, log: Log): Tidying
  /** False where the files of the store were removed, moved or replaced: nothing is kept then. Absent where it has none. */
  isInPlace?(): boolean
  /** Where requests are counted for all nodes. Absent where there is one. */
  readonly tallies?: Tallies
  /** Connections to the database, by what they do. Absent where there is none. */
  connections?(): Readonly<Record<'busy' | 'idle' | 'waiting', number>>
  /** Bytes, by what they are called among the metrics. */
  sizes(): Promise<Readonly<Record<string, number>>>
  close(): Promise<void>
}

/** Changes of nodes and contents. */
export interface Commits {
  /** Resolves with what the change answers when it is durable; rejects with what it throws, and nothing has happened then. */
  run<Name extends ChangeName>(name: Name, argument: ChangeArgument<Name>): Promise<ChangeResult<Name>>
  /** Grows when anything else was changed through the store: keys, projects, tables. */
  readonly otherChanges: number
}

/** Gives back the room of what was deleted. */
export interface Tidying {
  /** Something was deleted. */
  ask(): void
  stop(): Promise<void>
}
