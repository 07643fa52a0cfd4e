// Tables that only PostgreSQL's store has: what one process may keep in memory and in files, many have to share.

import type { Kysely } from '../kysely.ts'
import type { Database, Store } from '../database.ts'

export type SharedTables = {
  blobs: BlobsTable
  link_secrets: LinkSecretsTable
  upkeep: UpkeepTable
}

export interface BlobsTable {
  /** Of the content, hexadecimal. */
  sha256: string
  size: number
  /** Small content itself; null where it rests elsewhere under `key`. */
  bytes: Buffer | null
  key: string | null
  /** Epoch milliseconds: since then nothing may refer to it; null where something does. */
  unreferenced_since: number | null
}

export interface LinkSecretsTable {
  number: number
  secret: Buffer
  /** From then on it signs. */
  since: number
}

/** When what is done now and then was done last, by any node. */
export interface UpkeepTable {
  name: string
  done_at: number
}

export type SharedStore = Kysely<Database & SharedTables>

export function sharedStore(store: Store): SharedStore {
  return store.withTables<SharedTables>()
}
