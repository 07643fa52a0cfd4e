// Documents of storage tables: their metadata. The bytes are in the blob store.

import { randomUUID } from 'node:crypto'
import { transactFor } from '../store/transact.ts'
import type { Store } from '../store/database.ts'
import { type Quota, checkQuota } from '../store/usage.ts'
import type { DocumentRow, TableRow, TablesStore } from './database.ts'
import { type NewTable, createTable } from './tables-store.ts'

export type NewDocument = Pick<DocumentRow, 'filename' | 'mimetype' | 'size' | 'blob'>

/** Creates the table with its document, both or neither. Throws ServiceError 409 or 413 as `createTable`, 507 beyond the quota. */
export async function createStorageTable(
  store: TablesStore,
  table: NewTable,
  document: NewDocument,
  quota: Quota,
): Promise<{ table: TableRow; documentId: string }> {
  return transactFor(store, table.projectId, async (transaction) => {
    const made = await createTable(transaction, table)
    const id = randomUUID()
    await transaction
      .insertInto('documents')
      .values({
        ...document,
        id,
        project_id: made.project_id,
        table_id: made.id,
        created_at: made.created_at,
      })
      .execute()
    await checkQuota(transaction as unknown as Store, made.project_id, quota)
    return { table: made, documentId: id }
  })
}

/** Undefined unless a storage table of the project has the document. */
export function findDocument(
  store: TablesStore,
  projectId: string,
  id: string,
): Promise<DocumentRow | undefined> {
  return store
    .selectFrom('documents')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id.toLowerCase())
    .executeTakeFirst()
}

/** Returns the `blobs` (SHA-256) that some document refers to. */
export async function findDocumentBlobs(store: TablesStore, blobs: readonly string[]): Promise<string[]> {
  const rows = await store
    .selectFrom('documents')
    .select('blob')
    .distinct()
    .where('blob', 'in', blobs)
    .execute()
  return rows.flatMap((row) => row.blob ?? [])
}
