// What every route of the service is given: one object, made once at start.

import type { Log } from '../log.ts'
import type { ContentStore } from './blobs/content-store.ts'
import type { Signer } from './downloads/signer.ts'
import type { Drain } from './edge/drain.ts'
import type { Edge } from './edge/edge.ts'
import type { Testing } from './faults/testing.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './observe/metrics.ts'
import type { KeyUse } from './key-use.ts'
import type { OpenedKeys } from './opened-keys.ts'
import type { Store } from './store/database.ts'
import type { DetachedTrees } from './store/detached-trees.ts'
import type { Commits } from './store/open-store.ts'
import type { Matching } from './tables/matching.ts'
import type { Tidying } from './store/tidying.ts'
import type { UriPolicy } from './uploads/fetch-uri.ts'

export interface ServiceContext {
  /** The database: projects, keys, nodes; other tables through `store.withTables<…>()`. */
  readonly store: Store
  /** Changes of nodes go through here, many to a commit. */
  readonly commits: Commits
  /** What keys open. */
  readonly keys: OpenedKeys
  /** Notes when keys were used. */
  readonly keyUse: KeyUse
  /** Clears what was below deleted folders. */
  readonly detachedTrees: DetachedTrees
  /** Asked after every deletion. */
  readonly tidying: Tidying
  /** Threads that parse and match. */
  readonly matching: Matching
  /** The bytes, by content hash. Whoever keeps hashes in tables of their own registers with `blobs.addOwner`. */
  readonly blobs: ContentStore
  /** Makes and checks presigned downloads. */
  readonly signer: Signer
  readonly edge: Edge
  readonly limits: Limits
  /** Counts who is being answered, and ends it. */
  readonly drain: Drain
  /** Undefined unless somebody listens. */
  readonly metrics: Metrics | undefined
  /** A line per answered request, and one per change. */
  readonly access: Log
  readonly audit: Log
  /** Misbehaviour on demand and what it needs to remember; undefined unless a test asked for it. */
  readonly testing: Testing | undefined
  /** Which addresses `uri` uploads may reach, how much and how long. */
  readonly uriPolicy: UriPolicy
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly log: Log
}
