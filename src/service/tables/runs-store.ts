// Records of reconciliations: pending tasks and finished runs. No code reads them yet, because the interface has no endpoint for
// that.

import { randomUUID } from 'node:crypto'
import type { Store } from '../store/database.ts'
import { engineOf } from '../store/engine-adapter.ts'
import { transactFor } from '../store/transact.ts'
import { type Quota, checkQuota } from '../store/usage.ts'
import type { RunsTable, TableRow, TablesStore } from './database.ts'
import type { ReconcileBody } from './schemas.ts'

export interface NewRun {
  readonly table: Pick<TableRow, 'id' | 'project_id'>
  readonly status: RunsTable['status']
  readonly createdAt: number
  readonly input: ReconcileBody
  /** JSON. */
  readonly data?: string
  readonly reasoning?: string
}

/** Returns the run's id: the `task_id` of a task, the `row_id` of a result. Throws ServiceError 507 beyond the quota. */
export async function addRun(store: TablesStore, run: NewRun, quota: Quota): Promise<string> {
  // 0 is no limit: one insert waits for its turn in the project, and needs no transaction.
  if (quota.projectBytes === 0)
    return engineOf(store).inTurn(run.table.project_id, () => insertRun(store, run))
  return transactFor(store, run.table.project_id, async (transaction) => {
    const id = await insertRun(transaction, run)
    await checkQuota(transaction as unknown as Store, run.table.project_id, quota)
    return id
  })
}

async function insertRun(store: TablesStore, run: NewRun): Promise<string> {
  const id = randomUUID()
  await store
    .insertInto('runs')
    .values({
      id,
      table_id: run.table.id,
      status: run.status,
      created_at: run.createdAt,
      input: JSON.stringify(run.input),
      data: run.data ?? null,
      reasoning: run.reasoning ?? null,
    })
    .execute()
  return id
}
