// Removal of tables and runs with all their rows, in batches; other requests are served between batches. The interface has no
// endpoint for this: the administrator of the service does it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../store/database.ts'
import { engineOf } from '../store/engine-adapter.ts'
import { isCollision, isReferenceViolation, transactInSteps } from '../store/transact.ts'
import { type TablesStore, tablesStore } from './database.ts'

const batchRows = 1_000
/** Some minutes of passes, until earlier requests have ended. */
const maxPasses = 10_000
const pauseMs = 20

/** Called with the SHA-256 of contents that lost a reference. */
export type Collect = (sha256s: string[]) => void

/** Repeats `pass` while it collides with rows that earlier requests still add. */
export async function untilGone(pass: () => Promise<void>): Promise<void> {
  for (let count = 1; ; count++) {
    try {
      await pass()
      return
    } catch (error) {
      const hasCollided = isReferenceViolation(error) || isCollision(error)
      if (!hasCollided || count === maxPasses) throw error
      await sleep(pauseMs)
    }
  }
}

/** Readers see first a table without rows, then no table. On PostgreSQL requests that would add rows wait for the end. */
export async function removeTable(store: Store, id: string, collect: Collect): Promise<void> {
  const engine = engineOf(store)
  await engine.tables.exclusive([id], () =>
    untilGone(() =>
      transactInSteps(tablesStore(store), async (step) => {
        // PostgreSQL only. A stronger lock than that of an update: it also keeps out new rows that refer to the table.
        if (engine.inLongTurn !== undefined)
          await step((rows) =>
            rows.selectFrom('tables').select('id').where('id', '=', id).forUpdate().execute(),
          )
        await step((rows) =>
          rows.updateTable('tables').set({ asset_count: 0, inferred: '[]' }).where('id', '=', id).execute(),
        )
        await removeRowsOf([id], collect, step)
        await step((rows) => rows.deleteFrom('tables').where('id', '=', id).execute())
      }),
    ),
  )
}

/** Runs one batch as a change. */
type Batch = <Result>(change: (rows: TablesStore) => Promise<Result>) => Promise<Result>

/** Removes the runs, assets and documents of these tables; the tables stay. */
export async function removeRowsOf(ids: readonly string[], collect: Collect, batch: Batch): Promise<void> {
  await removeRuns({ tables: ids }, batch)
  for (;;) {
    const removed = await batch((rows) => {
      const some = rows.selectFrom('assets').select('id').where('table_id', 'in', ids).limit(batchRows)
      return rows.deleteFrom('assets').where('id', 'in', some).returning('id').execute()
    })
    if (removed.length === 0) break
  }
  const documents = await batch((rows) =>
    rows.deleteFrom('documents').where('table_id', 'in', ids).returning('blob').execute(),
  )
  collect(documents.flatMap(({ blob }) => blob ?? []))
}

/** Removes runs and tasks of these tables (default: all) made before a time (epoch ms; default: any). Returns their number. */
export async function removeRuns(
  of: { readonly tables?: readonly string[]; readonly before?: number | undefined },
  batch: Batch,
): Promise<number> {
  for (let count = 0; ;) {
    const removed = await batch((rows) => {
      let some = rows.selectFrom('runs').select('id').limit(batchRows)
      if (of.tables !== undefined) some = some.where('table_id', 'in', of.tables)
      if (of.before !== undefined) some = some.where('created_at', '<', of.before)
      return rows.deleteFrom('runs').where('id', 'in', some).returning('id').execute()
    })
    if (removed.length === 0) return count
    count += removed.length
  }
}

/** A Batch that runs each change directly on the store. */
export function oneByOne(store: Store): Batch {
  const rows = tablesStore(store)
  return (change) => change(rows)
}
