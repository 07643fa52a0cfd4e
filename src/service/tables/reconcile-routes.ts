// POST /projects/{project_name}/tables/{table_id}/reconcile, …/tasks and …/forward: the operations of reconcile tables.

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { logChange } from '../observe/logs.ts'
import { addAssets } from './assets-store.ts'
import { tablesStore } from './database.ts'
import { checkedDocuments, runReconciliation } from './run-reconciliation.ts'
import { addRun } from './runs-store.ts'
import {
  type ForwardBody,
  type ForwardedBody,
  type ReconcileBody,
  forwardSchema,
  forwardedSchema,
  reconcileResultSchema,
  reconcileSchema,
  tableParamsSchema,
  taskSchema,
} from './schemas.ts'
import { getReconcileTable } from './tables-store.ts'

const url = '/projects/:project_name/tables/:table_id'

interface TableRoute {
  Params: { table_id: string }
}

export function registerReconcileRoutes(scope: FastifyInstance, context: ServiceContext): void {
  const store = tablesStore(context.store)

  scope.post<TableRoute & { Body: ReconcileBody }>(
    `${url}/reconcile`,
    {
      schema: {
        summary: 'Reconciles data and files against the assets of the table, and answers when done',
        params: tableParamsSchema,
        body: reconcileSchema,
        response: { 200: reconcileResultSchema },
      },
    },
    async (request, reply) => {
      const table = await getReconcileTable(store, request.project.id, request.params.table_id)
      const result = await runReconciliation(context, table, request.body, request)
      return reply.type('application/json; charset=utf-8').send(result)
    },
  )

  scope.post<TableRoute & { Body: ReconcileBody }>(
    `${url}/tasks`,
    {
      schema: {
        summary: 'Creates a reconciliation task; it stays pending and is not executed',
        params: tableParamsSchema,
        body: reconcileSchema,
        response: { 201: taskSchema },
      },
    },
    async (request, reply): Promise<{ task_id: string }> => {
      const table = await getReconcileTable(store, request.project.id, request.params.table_id)
      await checkedDocuments(context, table.project_id, request.body)
      const task = {
        table,
        status: 'pending',
        createdAt: context.now(),
        input: request.body,
      } as const
      void reply.code(201)
      return { task_id: await addRun(store, task, request.limits) }
    },
  )

  scope.post<TableRoute & { Body: ForwardBody }>(
    `${url}/forward`,
    {
      schema: {
        summary: 'Creates one asset per item, all or none',
        params: tableParamsSchema,
        body: forwardSchema,
        response: { 201: forwardedSchema },
      },
    },
    async (request, reply): Promise<ForwardedBody> => {
      const table = await getReconcileTable(store, request.project.id, request.params.table_id)
      const ids = await addAssets(store, table, request.body.data, request.limits)
      logChange(context, request, 'forwarded', { table: table.name, assets: ids.length })
      void reply.code(201)
      const message = `${ids.length} asset${ids.length === 1 ? '' : 's'} created in ${table.name}`
      return { assets_created: ids.length, asset_ids: ids, message }
    },
  )
}
