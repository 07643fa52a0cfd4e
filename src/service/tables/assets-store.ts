// Rows forwarded into a table. They are added, never changed: `asset_count` says which ones a reader has seen.

import { randomUUID } from 'node:crypto'
import type { Asset } from '../reconcile/asset-index.ts'
import { ServiceError } from '../service-error.ts'
import { transactFor } from '../store/transact.ts'
import type { Store } from '../store/database.ts'
import { type Quota, checkQuota } from '../store/usage.ts'
import type { TableRow, TablesStore } from './database.ts'
import type { ForwardBody } from './schemas.ts'
import { type InferredSchema, inferSchema } from './table-schema.ts'

/** Rows per statement: mostly the same number, so that a statement is prepared once. */
const rowsPerStatement = 200
/** Their fields: so many take some 5 ms, and between two statements others are served. */
const fieldsPerStatement = 10_000
/** Names and types of a table's fields: each forward reads and writes them. */
const maxFieldsChars = 256 * 1024

/** Adds all of them in one transaction; answers their ids in the same order. Throws ServiceError 413 for too many fields, 507 beyond the quota. */
export async function addAssets(
  store: TablesStore,
  { id: tableId, project_id: projectId }: Pick<TableRow, 'id' | 'project_id'>,
  items: ForwardBody['data'],
  quota: Quota,
): Promise<string[]> {
  return transactFor(store, projectId, async (transaction) => {
    // Takes the write lock: two forwards never give the same number.
    const table = await transaction
      .updateTable('tables')
      .set((set) => ({ asset_count: set('asset_count', '+', items.length) }))
      .where('id', '=', tableId)
      .returning(['asset_count', 'inferred'])
      .executeTakeFirst()
    if (table === undefined) throw new ServiceError(404, `there is no table ${tableId}`)
    const first = table.asset_count - items.length
    const ids: string[] = []
    let fields = JSON.parse(table.inferred) as InferredSchema
    for (const slice of slicesOf(items)) {
      const rows = slice.map((item, at) => {
        const number = first + ids.length + at
        return {
          id: randomUUID(),
          table_id: tableId,
          number,
          name: item.asset_name ?? `row ${number + 1}`,
          row_data: JSON.stringify(item.row_data),
        }
      })
      fields = inferSchema(
        fields,
        slice.map((item) => item.row_data),
      )
      await transaction.insertInto('assets').values(rows).execute()
      for (const { id } of rows) ids.push(id)
    }
    const inferred = JSON.stringify(fields)
    if (inferred.length > Math.max(maxFieldsChars, table.inferred.length))
      throw new ServiceError(413, `the fields of a table have at most ${maxFieldsChars} characters of names`)
    if (inferred !== table.inferred) {
      await transaction.updateTable('tables').set({ inferred }).where('id', '=', tableId).execute()
    }
    await checkQuota(transaction as unknown as Store, projectId, quota)
    return ids
  })
}

function* slicesOf(items: ForwardBody['data']): Generator<ForwardBody['data']> {
  let start = 0
  let fields = 0
  for (const [at, item] of items.entries()) {
    const count = Object.keys(item.row_data).length
    if (at - start === rowsPerStatement || (at > start && fields + count > fieldsPerStatement)) {
      yield items.slice(start, at)
      start = at
      fields = 0
    }
    fields += count
  }
  yield items.slice(start)
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
