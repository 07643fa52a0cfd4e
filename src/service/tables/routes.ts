// Tables, their documents, tasks, forwarding and reconciliation: all routes of the interface under /projects/{project_name}/tables.

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { registerReconcileRoutes } from './reconcile-routes.ts'
import { registerStorageRoute } from './storage-route.ts'
import { registerTableRoutes } from './table-routes.ts'

/** Registers the routes. `scope` must authenticate requests. */
export async function registerTables(scope: FastifyInstance, context: ServiceContext): Promise<void> {
  registerTableRoutes(scope, context)
  registerReconcileRoutes(scope, context)
  // In a scope of its own: only this route takes the bodies of uploads.
  await scope.register(async (uploads) => registerStorageRoute(uploads, context))
}
