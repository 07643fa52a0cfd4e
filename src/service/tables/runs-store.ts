// Reconciliations that were asked for: tasks that wait, and runs that are over. Nothing reads them back yet: the interface
// shows no endpoint for it.

import { randomUUID } from 'node:crypto'
import type { RunsTable, TablesStore } from './database.ts'
import type { ReconcileBody } from './schemas.ts'

export interface NewRun {
  readonly tableId: string
  readonly status: RunsTable['status']
  readonly createdAt: number
  readonly input: ReconcileBody
  readonly data?: Readonly<Record<string, unknown>>
  readonly reasoning?: string
}

/** Answers the run's id: `task_id` of a task, `row_id` of a result. */
export async function addRun(store: TablesStore, run: NewRun): Promise<string> {
  const id = randomUUID()
  await store
    .insertInto('runs')
    .values({
      id,
      table_id: run.tableId,
      status: run.status,
      created_at: run.createdAt,
      input: JSON.stringify(run.input),
      data: run.data === undefined ? null : JSON.stringify(run.data),
      reasoning: run.reasoning ?? null,
    })
    .execute()
  return id
}
