// Assets: the rows forwarded into a table. They are added, never changed; readers see those with a number below `asset_count`.

import { randomUUID } from 'node:crypto'
import type { Asset } from '../reconcile/asset-index.ts'
import { ServiceError } from '../service-error.ts'
import type { Store } from '../store/database.ts'
import { engineOf } from '../store/engine-adapter.ts'
import { type Step, transactFor, transactInSteps } from '../store/transact.ts'
import { type Quota, checkQuota } from '../store/usage.ts'
import type { TableRow, TablesDatabase, TablesStore } from './database.ts'
import type { ForwardBody } from './schemas.ts'
import { type InferredSchema, inferSchema } from './table-schema.ts'

/** Rows per statement: a fixed number, so that the statement is prepared only once. */
const rowsPerStatement = 200
/** Fields per statement, which then takes about 5 ms; other requests are served between statements. */
const fieldsPerStatement = 10_000
/** Slices (statements) in one transaction: other writers wait for it, up to 50 ms. */
const slicesAtOnce = 5
/** Characters of the JSON of a table's fields, which each forward reads and writes. */
const maxFieldsChars = 256 * 1024

/**
 * Adds all items or none. Returns their ids in the same order. Many rows are added in several transactions, so that other writers
 * need not wait; readers see none of them until the last one raises `asset_count`. Throws ServiceError 413 for too many fields, 507
 * beyond the quota.
 */
export async function addAssets(
  store: TablesStore,
  { id, project_id: projectId }: Pick<TableRow, 'id' | 'project_id'>,
  items: ForwardBody['data'],
  quota: Quota,
): Promise<string[]> {
  const slices = [...slicesOf(items)]
  const engine = engineOf(store)
  const addTo = { id, projectId, quota }
  if (slices.length <= slicesAtOnce)
    // Short forwards into one table may overlap: the lock of its row orders them.
    return engine.tables.share(id, () =>
      transactFor(store, projectId, (transaction) => {
        const step: Step<TablesDatabase> = (change) => change(transaction)
        return addSlices({ ...addTo, step, counted: items.length }, slices, (change) => change(transaction))
      }),
    )
  return engine.tables.exclusive([id], () =>
    transactInSteps(store, async (step) => {
      const ids: string[] = []
      const outside = (change: (rows: TablesStore) => Promise<void>): Promise<void> =>
        engine.inTurn(projectId, () => change(store))
      try {
        return await addSlices({ ...addTo, step, counted: 0 }, slices, outside, ids)
      } catch (error) {
        // If this fails, the next forward removes the rows (`removeAhead`).
        await removeRows(store, ids).catch(() => undefined)
        throw error
      }
    }),
  )
}

interface AddTo {
  readonly id: string
  readonly projectId: string
  readonly quota: Quota
  readonly step: Step<TablesDatabase>
  /** Rows that the first step adds to `asset_count`: all if there is only one transaction, else 0. */
  readonly counted: number
}

/**
 * Many rows: one step locks the table, rows follow outside of the steps, by `outside`, and the last step raises `asset_count`. Few:
 * all is one transaction. `ids` collects the ids of the rows added so far.
 */
async function addSlices(
  { id: tableId, projectId, quota, step, counted }: AddTo,
  slices: readonly ForwardBody['data'][],
  outside: (change: (store: TablesStore) => Promise<void>) => Promise<void>,
  ids: string[] = [],
): Promise<string[]> {
  const table = await step((transaction) => lockTable(transaction, tableId, counted))
  const start = table.asset_count - counted
  if (table.ahead !== null) await outside((rows) => removeAhead(rows, tableId, start))
  let fields = JSON.parse(table.inferred) as InferredSchema
  for (const slice of slices) {
    const first = start + ids.length
    const rows = slice.map((item, at) => ({
      id: randomUUID(),
      table_id: tableId,
      number: first + at,
      name: item.asset_name || `row ${first + at + 1}`,
      row_data: JSON.stringify(item.row_data),
    }))
    fields = inferSchema(
      fields,
      slice.map((item) => item.row_data),
    )
    for (const { id } of rows) ids.push(id)
    await outside(async (assets) => void (await assets.insertInto('assets').values(rows).execute()))
  }
  const inferred = JSON.stringify(fields)
  if (inferred.length > Math.max(maxFieldsChars, table.inferred.length))
    throw new ServiceError(413, `the fields of a table have at most ${maxFieldsChars} characters of names`)
  return step(async (transaction) => {
    if (counted === 0 || inferred !== table.inferred)
      await transaction
        .updateTable('tables')
        .set({ asset_count: start + ids.length, inferred })
        .where('id', '=', tableId)
        .execute()
    await checkQuota(transaction as unknown as Store, projectId, quota)
    return ids
  })
}

/**
 * Adds `counted` to `asset_count`, which locks the table's row: no other transaction adds rows until the end of this one. `ahead`
 * is the id of a row beyond the count. Throws ServiceError 404.
 */
async function lockTable(
  transaction: TablesStore,
  tableId: string,
  counted: number,
): Promise<Pick<TableRow, 'asset_count' | 'inferred'> & { ahead: string | null }> {
  const table = await transaction
    .updateTable('tables')
    .set((set) => ({ asset_count: set('asset_count', '+', counted) }))
    .where('id', '=', tableId)
    .returning((of) => [
      'asset_count',
      'inferred',
      of
        .selectFrom('assets')
        .select('id')
        .where('table_id', '=', tableId)
        .whereRef('number', '>=', of('tables.asset_count', '-', counted))
        .limit(1)
        .as('ahead'),
    ])
    .executeTakeFirst()
  if (table === undefined) throw new ServiceError(404, `there is no table ${tableId}`)
  return table
}

/** Removes rows beyond the count, which a forward left that was killed before its end. */
async function removeAhead(store: TablesStore, tableId: string, count: number): Promise<void> {
  for (;;) {
    const ahead = store
      .selectFrom('assets')
      .select('id')
      .where('table_id', '=', tableId)
      .where('number', '>=', count)
      .limit(rowsPerStatement)
    const { numDeletedRows } = await store.deleteFrom('assets').where('id', 'in', ahead).executeTakeFirst()
    if (Number(numDeletedRows) < rowsPerStatement) return
  }
}

async function removeRows(store: TablesStore, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += rowsPerStatement)
    await store
      .deleteFrom('assets')
      .where('id', 'in', ids.slice(at, at + rowsPerStatement))
      .execute()
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

/** The assets with numbers from `from` to `to - 1`, in order of arrival. */
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
