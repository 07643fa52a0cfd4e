// Tables and runs that go, with all that is in them, in batches between which others are served. The interface shows no
// endpoint for it: it is for whoever runs the service.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../store/database.ts'
import { engineOf } from '../store/engine-adapter.ts'
import { isCollision, isReferenceViolation, transactInSteps } from '../store/transact.ts'
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

/** Readers see a table without rows first, then none; where nodes share the store, whoever would add rows waits for the end. */
export async function removeTable(store: Store, id: string, collect: Collect): Promise<void> {
  const engine = engineOf(store)
  await engine.tables.exclusive([id], () =>
    untilGone(() =>
      transactInSteps(tablesStore(store), async (step) => {
        // More than the update of a row would lock: a row that refers to it needs a part of that lock.
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

/** Runs one batch. */
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

/** Runs, and tasks that wait, of these tables or of all, made before a time (epoch milliseconds) or at any; answers how many. */
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

/** Each batch is a change of its own. */
export function oneByOne(store: Store): Batch {
  const rows = tablesStore(store)
  return (change) => change(rows)
}
