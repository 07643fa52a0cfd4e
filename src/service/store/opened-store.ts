// Types: where a store is, and an open store, the same for every engine.

import type { Log } from '../../log.ts'
import type { Contents } from '../blobs/contents.ts'
import type { S3Address } from '../blobs/s3/address.ts'
import type { LinkSecrets } from '../downloads/signer.ts'
import type { Tallies } from '../edge/request-rates.ts'
import type { ChangeArgument, ChangeName, ChangeResult } from './changes.ts'
import type { Store } from './database.ts'
import type { PostgresAddress } from './postgres/address.ts'

/** The place of a store: plain data, so that it can be sent to other threads. */
export type StorePlace = EmbeddedPlace | SharedPlace

export interface EmbeddedPlace {
  /** The folder that holds the database and all contents. */
  readonly dataDir: string
  readonly database?: undefined
}

export interface SharedPlace {
  readonly database: PostgresAddress
  /** Place of larger contents: this bucket, else the folder `dataDir`. */
  readonly blobs?: S3Address | undefined
  readonly dataDir?: string | undefined
  /** Milliseconds for which content without references is kept. Default: a day. */
  readonly graceMs?: number | undefined
}

export interface OpenedStore {
  readonly store: Store
  readonly commits: Commits
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly now: () => number
  /** True if other processes of the service may use it, too; background work that one leaves, another does. */
  readonly isShared: boolean
  /** The longest path that the engine can store, whatever the limits of the service say. 0 is no limit. */
  readonly maxPathBytes: number
  /** The secrets that sign presigned links. */
  linkSecrets(): Promise<LinkSecrets>
  openContents(log: Log): Promise<Contents>
  /** `whenCleared` resolves when all nodes deleted so far are cleared. */
  tidying(whenCleared: () => Promise<unknown>, log: Log): Tidying
  /** False if the files of the store were removed, moved or replaced: writes are refused then. Absent for PostgreSQL. */
  isInPlace?(): boolean
  /** Counts of requests over all processes of the service. Absent if there is only one process. */
  readonly tallies?: Tallies
  /** Counts of connections to the database server, by state. Absent for the embedded store. */
  connections?(): Readonly<Record<'busy' | 'idle' | 'waiting', number>>
  /** Sizes in bytes, by their label in the metrics. */
  sizes(): Promise<Readonly<Record<string, number>>>
  close(): Promise<void>
}

/** Changes of nodes and contents. */
export interface Commits {
  /** Resolves with the result when the change is durable; if it throws, it is undone, and `run` rejects with its error. */
  run<Name extends ChangeName>(name: Name, argument: ChangeArgument<Name>): Promise<ChangeResult<Name>>
  /** Grows with every other change through the store: of keys, projects, tables. Cached keys are then read again. */
  readonly otherChangeCount: number
}

/** Frees the disk space of deleted data. */
export interface Tidying {
  /** Requests a run in the background, because data was deleted. */
  ask(): void
  stop(): Promise<void>
}
