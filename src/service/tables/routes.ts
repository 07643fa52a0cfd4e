// Tables, tasks, forwarding and reconciliation: everything of the interface under /projects/{project_name}/tables.

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { migrate } from '../store/migrate.ts'
import { tablesStore } from './database.ts'
import { findDocumentBlobs } from './documents-store.ts'
import { tableMigrations } from './migrations.ts'
import { registerReconcileRoutes } from './reconcile-routes.ts'
import { registerStorageRoute } from './storage-route.ts'
import { registerTableRoutes } from './table-routes.ts'

/** Registers the routes in a scope that authenticates, and this part's tables and blobs with the store. */
export async function registerTables(scope: FastifyInstance, context: ServiceContext): Promise<void> {
  const store = tablesStore(context.store)
  await migrate(context.store, 'tables', tableMigrations)
  context.blobs.addOwner((sha256s) => findDocumentBlobs(store, sha256s))
  registerTableRoutes(scope, context)
  registerReconcileRoutes(scope, context)
  await scope.register(async (uploads) => registerStorageRoute(uploads, context))
}
