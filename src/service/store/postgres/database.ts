// Tables of the PostgreSQL store alone: several processes share here what the embedded store has in memory or files.

import type { Kysely } from '../kysely.ts'
import type { Database, Store } from '../database.ts'

export type SharedTables = {
  blobs: BlobsTable
  link_secrets: LinkSecretsTable
  upkeep: UpkeepTable
}

export interface BlobsTable {
  /** SHA-256 of the content, hexadecimal. */
  sha256: string
  size: number
  /** The content itself if it is small; null if it is in a bucket or folder, under `key`. */
  bytes: Buffer | null
  key: string | null
  /** Epoch milliseconds: nothing may have referred to it since then; null while something does. */
  unreferenced_since: number | null
}

export interface LinkSecretsTable {
  number: number
  secret: Buffer
  /** Epoch milliseconds: it signs from this time on. */
  since: number
}

/** The time of the last run of each periodic task, in any process. */
export interface UpkeepTable {
  name: string
  done_at: number
}

export type SharedStore = Kysely<Database & SharedTables>

export function sharedStore(store: Store): SharedStore {
  return store.withTables<SharedTables>()
}
