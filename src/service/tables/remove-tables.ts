// Tables and runs that go, with all that is in them, in batches between which others are served. The interface shows no
// endpoint for it: it is for whoever runs the service.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../store/database.ts'
import { engineOf } from '../store/engine-adapter.ts'
import { isCollision, isReferenceViolation } from '../store/transact.ts'
import { type TablesStore, tablesStore } from './database.ts'

const batchRows = 1_000
/** Some minutes, for requests that had begun. */
const maxPasses = 10_000
const pauseMs = 20

/** `collect` is told of content that lost its last reference. */
export type Collect = (sha256s: string[]) => void

/** Runs `pass` again while it meets rows that are added by requests that were let in before. */
export async function untilGone(pass: () => Promise<void>): Promise<void> {
  for (let count = 1; ; count++) {
    try {
      await pass()
      return
    } catch (error) {
      const isMet = isReferenceViolation(error) || isCollision(error)
      if (!isMet || count === maxPasses) throw error
      await sleep(pauseMs)
    }
  }
}

/** Readers see a table without rows first, then none. */
export async function removeTable(store: Store, id: string, collect: Collect): Promise<void> {
  const tables = tablesStore(store)
  await engineOf(store).tables.alone([id], () =>
    untilGone(async () => {
      await tables
        .updateTable('tables')
        .set({ asset_count: 0, inferred: '[]' })
        .where('id', '=', id)
        .execute()
      await removeRowsOf(tables, [id], collect)
      await tables.deleteFrom('tables').where('id', '=', id).execute()
    }),
  )
}

/** What is in these tables; they stay. */
export async function removeRowsOf(
  tables: TablesStore,
  ids: readonly string[],
  collect: Collect,
): Promise<void> {
  if (ids.length === 0) return
  await removeRuns(tables, { tables: ids })
  for (;;) {
    const some = tables.selectFrom('assets').select('id').where('table_id', 'in', ids).limit(batchRows)
    const removed = await tables.deleteFrom('assets').where('id', 'in', some).returning('id').execute()
    if (removed.length === 0) break
  }
  const documents = await tables
    .deleteFrom('documents')
    .where('table_id', 'in', ids)
    .returning('blob')
    .execute()
  collect(documents.flatMap(({ blob }) => blob ?? []))
}

/** Runs, and tasks that wait, of these tables or of all, made before a time (epoch milliseconds) or at any; answers how many. */
export async function removeRuns(
  tables: TablesStore,
  of: { readonly tables?: readonly string[]; readonly before?: number },
): Promise<number> {
  for (let count = 0; ;) {
    let some = tables.selectFrom('runs').select('id').limit(batchRows)
    if (of.tables !== undefined) some = some.where('table_id', 'in', of.tables)
    if (of.before !== undefined) some = some.where('created_at', '<', of.before)
    const removed = await tables.deleteFrom('runs').where('id', 'in', some).returning('id').execute()
    if (removed.length === 0) return count
    count += removed.length
  }
}
