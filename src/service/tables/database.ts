// The database tables for the tables of a project, their assets and documents, and runs. As in the rest of the store, ids are
// uuids stored as text, times are epoch milliseconds, and JSON is text.

import type { Kysely, Selectable } from '../store/kysely.ts'
import type { Database, Store } from '../store/database.ts'

export type TableKind = 'extraction' | 'reconcile' | 'storage'

export interface TablesDatabase extends Database {
  tables: TablesTable
  assets: AssetsTable
  documents: DocumentsTable
  runs: RunsTable
}

export interface TablesTable {
  id: string
  project_id: string
  name: string
  kind: TableKind
  created_at: number
  /** JSON object, as the client sent it. */
  settings: string
  /** JSON: the fields seen in forwarded rows (`InferredSchema`). */
  inferred: string
  /** The number of the next asset; an index is valid for the assets below it. */
  asset_count: number
}

export interface AssetsTable {
  id: string
  table_id: string
  /** 0, 1, 2 … in the order of arrival. */
  number: number
  name: string
  /** JSON object. */
  row_data: string
}

export interface DocumentsTable {
  id: string
  project_id: string
  table_id: string
  filename: string
  mimetype: string
  /** Bytes. */
  size: number
  /** SHA-256 of the content, hexadecimal; null under zero retention: the bytes were not stored. */
  blob: string | null
  created_at: number
}

/** A reconciliation: a task that waits (`pending`), or a finished run. */
export interface RunsTable {
  id: string
  table_id: string
  status: 'pending' | 'done' | 'error'
  created_at: number
  /** JSON: the input, as the client sent it. */
  input: string
  /** JSON object; null while pending. */
  data: string | null
  reasoning: string | null
}

export type TablesStore = Kysely<TablesDatabase>
export type TableRow = Selectable<TablesTable>
export type DocumentRow = Selectable<DocumentsTable>

/** The same store, typed with these tables. */
export function tablesStore(store: Store): TablesStore {
  return store.withTables<Omit<TablesDatabase, keyof Database>>()
}
