// The context that every route of the service is given: one object, made once at start.

import type { Log } from '../log.ts'
import type { BackupSchedule } from './backup/schedule.ts'
import type { Contents } from './blobs/contents.ts'
import type { Signer } from './downloads/signer.ts'
import type { Drain } from './edge/drain.ts'
import type { Edge } from './edge/edge.ts'
import type { RequestRates } from './edge/request-rates.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './observe/metrics.ts'
import type { KeyUse } from './key-use.ts'
import type { OpenedKeys } from './opened-keys.ts'
import type { Store } from './store/database.ts'
import type { DetachedTrees } from './store/detached-trees.ts'
import type { Commits, Tidying } from './store/opened-store.ts'
import type { Matching } from './tables/matching.ts'
import type { UriPolicy } from './uploads/fetch-uri.ts'

export interface ServiceContext {
  /** The database: projects, keys, nodes; other tables through `store.withTables<…>()`. */
  readonly store: Store
  /** Changes of nodes go through here, many to a commit. */
  readonly commits: Commits
  /** False where the files of the store are not where they were. */
  readonly isInPlace: () => boolean
  /** Looks up what a key opens, and keeps the answer for a moment. */
  readonly keys: OpenedKeys
  /** Notes when keys were used. */
  readonly keyUse: KeyUse
  /** Clears what was below deleted folders. */
  readonly detachedTrees: DetachedTrees
  /** Asked after every deletion. */
  readonly tidying: Tidying
  /** Threads that parse and match. */
  readonly matching: Matching
  /** Undefined where the service makes none of itself. */
  readonly backups: BackupSchedule | undefined
  /** The bytes, by content hash. */
  readonly blobs: Contents
  /** Makes and checks presigned downloads. */
  readonly signer: Signer
  readonly edge: Edge
  readonly limits: Limits
  /** How often keys and addresses come. */
  readonly rates: RequestRates
  /** Counts who is being answered, and ends it. */
  readonly drain: Drain
  /** Undefined unless somebody listens. */
  readonly metrics: Metrics | undefined
  /** A line per answered request, and one per change. */
  readonly access: Log
  readonly audit: Log
  /** Which addresses `uri` uploads may reach, how much and how long. */
  readonly uriPolicy: UriPolicy
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: () => number
  readonly log: Log
}
