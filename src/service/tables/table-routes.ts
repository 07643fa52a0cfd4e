// GET and POST /projects/{project_name}/tables, GET …/{table_id}/schema.

import type { FastifyInstance } from 'fastify'
import { Type } from '../json-schema.ts'
import type { ServiceContext } from '../context.ts'
import { logChange } from '../observe/logs.ts'
import { errorSchema, projectParamsSchema } from '../schemas.ts'
import { ServiceError } from '../service-error.ts'
import type { Store } from '../store/database.ts'
import { transactFor } from '../store/transact.ts'
import { checkQuota } from '../store/usage.ts'
import { tablesStore } from './database.ts'
import {
  type NewTableBody,
  type TableBody,
  type WrappedSchemaBody,
  newTableSchema,
  tableParamsSchema,
  tableSchema,
  wrappedSchemaSchema,
} from './schemas.ts'
import { kindOf } from './table-kind.ts'
import { checkGivenSchema, schemaOf } from './table-schema.ts'
import { tablesListing } from './tables-listing.ts'
import { createTable, getTable, tableBody } from './tables-store.ts'

const url = '/projects/:project_name/tables'

export function registerTableRoutes(scope: FastifyInstance, context: ServiceContext): void {
  const store = tablesStore(context.store)

  scope.get(
    url,
    {
      schema: {
        summary: 'Lists the tables of the project, oldest first',
        params: projectParamsSchema,
        response: { 200: Type.Array(tableSchema) },
      },
    },
    async (request, reply) =>
      reply.type('application/json; charset=utf-8').send(await tablesListing(store, request.project.id)),
  )

  scope.post<{ Body: NewTableBody }>(
    url,
    {
      schema: {
        summary: 'Creates a table of the kind that settings.type, or type, names',
        params: projectParamsSchema,
        body: newTableSchema,
        response: { 201: tableSchema, 409: errorSchema },
      },
    },
    async (request, reply): Promise<TableBody> => {
      const { name, type, id, created_at: createdAt, settings = {} } = request.body
      checkGivenSchema(settings)
      const made = {
        projectId: request.project.id,
        name,
        kind: kindOf({ type, 'settings.type': settings['type'] }),
        settings,
        ...(id === undefined ? {} : { id }),
        createdAt: createdAt === undefined ? context.now() : parseTime(createdAt),
      }
      const table = await transactFor(store, made.projectId, async (transaction) => {
        const row = await createTable(transaction, made)
        await checkQuota(transaction as unknown as Store, row.project_id, request.limits)
        return row
      })
      logChange(context, request, 'table created', { table: table.name, kind: table.kind })
      void reply.code(201)
      return tableBody(table)
    },
  )

  scope.get<{ Params: { table_id: string } }>(
    `${url}/:table_id/schema`,
    {
      schema: {
        summary: 'The data schema of the table',
        params: tableParamsSchema,
        response: { 200: wrappedSchemaSchema },
      },
    },
    async (request): Promise<WrappedSchemaBody> => ({
      schema: schemaOf(await getTable(store, request.project.id, request.params.table_id)),
    }),
  )
}

function parseTime(text: string): number {
  const time = Date.parse(text)
  // The schema allows leap seconds, which Date.parse does not, and times that an offset moves out of the years 0000 to 9999.
  const isWritable = !Number.isNaN(time) && /^\d{4}-/.test(new Date(time).toISOString())
  if (!isWritable) throw new ServiceError(400, `created_at is no time: ${text}`)
  return time
}
