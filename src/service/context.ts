// The parts of a running service, made once at its start and passed to every route.

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
  /** False if the database's files were moved or removed while the service runs. */
  readonly isInPlace: () => boolean
  /** Looks up the projects and rights of a key, and caches the result for a moment. */
  readonly keys: OpenedKeys
  /** Records when keys were last used. */
  readonly keyUse: KeyUse
  /** Removes, in the background, everything that was below deleted folders. */
  readonly detachedTrees: DetachedTrees
  /** Shrinks the database; notified after every deletion. */
  readonly tidying: Tidying
  /** Processes that parse documents and match rows for reconciliations. */
  readonly matching: Matching
  /** Undefined if no scheduled backups are configured. */
  readonly backups: BackupSchedule | undefined
  /** The bytes of documents, by their SHA-256. */
  readonly blobs: Contents
  /** Makes and checks presigned downloads. */
  readonly signer: Signer
  readonly edge: Edge
  readonly limits: Limits
  /** Request rates of keys and addresses, for throttling. */
  readonly rates: RequestRates
  /** Counts requests under way, and ends them when the service stops. */
  readonly drain: Drain
  /** Undefined unless metrics are enabled. */
  readonly metrics: Metrics | undefined
  /** A line per answered request. */
  readonly access: Log
  /** A line per change. */
  readonly audit: Log
  /** Addresses that `uri` uploads may be fetched from, and limits of their size and time. */
  readonly uriPolicy: UriPolicy
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: () => number
  readonly log: Log
}
