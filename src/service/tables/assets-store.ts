// Rows forwarded into a table. They are added, never changed: `asset_count` says which ones a reader has seen.

import { randomUUID } from 'node:crypto'
import type { Asset } from '../reconcile/asset-index.ts'
import { ServiceError } from '../service-error.ts'
import { transact } from '../store/transact.ts'
import type { TablesStore } from './database.ts'
import type { ForwardBody } from './schemas.ts'
import { type InferredSchema, inferSchema } from './table-schema.ts'

/** Rows per statement: always the same number, so that a statement is prepared once. */
const rowsPerStatement = 200

/** Adds all of them in one transaction; answers their ids in the same order. */
export async function addAssets(
  store: TablesStore,
  tableId: string,
  items: ForwardBody['data'],
): Promise<string[]> {
  return transact(store, async (transaction) => {
    // Takes the write lock: two forwards never give the same number.
    const table = await transaction
      .updateTable('tables')
      .set((set) => ({ asset_count: set('asset_count', '+', items.length) }))
      .where('id', '=', tableId)
      .returning(['asset_count', 'inferred'])
      .executeTakeFirst()
    if (table === undefined) throw new ServiceError(404, `there is no table ${tableId}`)
    const first = table.asset_count - items.length
    const rows = items.map((item, at) => ({
      id: randomUUID(),
      table_id: tableId,
      number: first + at,
      name: item.asset_name ?? `row ${first + at + 1}`,
      row_data: JSON.stringify(item.row_data),
    }))
    for (let at = 0; at < rows.length; at += rowsPerStatement) {
      await transaction
        .insertInto('assets')
        .values(rows.slice(at, at + rowsPerStatement))
        .execute()
    }
    const inferred = JSON.stringify(
      inferSchema(
        JSON.parse(table.inferred) as InferredSchema,
        items.map((item) => item.row_data),
      ),
    )
    if (inferred !== table.inferred) {
      await transaction.updateTable('tables').set({ inferred }).where('id', '=', tableId).execute()
    }
    return rows.map((row) => row.id)
  })
}

/** The assets from number `from` up to before `to`, in order of arrival. */
export async function loadAssets(
  store: TablesStore,
  tableId: string,
  from: number,
  to: number,
): Promise<Asset[]> {
  const rows = await store
    .selectFrom('assets')
    .select(['id', 'name', 'row_data'])
    .where('table_id', '=', tableId)
    .where('number', '>=', from)
    .where('number', '<', to)
    .orderBy('number')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    rowData: JSON.parse(row.row_data) as Record<string, unknown>,
  }))
}
