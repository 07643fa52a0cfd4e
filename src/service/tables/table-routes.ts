// GET and POST /projects/{project_name}/tables, GET …/{table_id}/schema.

import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { ServiceContext } from '../context.ts'
import { logChange } from '../observe/logs.ts'
import { errorSchema, projectParamsSchema } from '../schemas.ts'
import { ServiceError } from '../service-error.ts'
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
import { kindOfSettings } from './table-kind.ts'
import { checkGivenSchema, schemaOf } from './table-schema.ts'
import { createTable, getTable, listTables, tableBody } from './tables-store.ts'

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
    async (request): Promise<TableBody[]> => (await listTables(store, request.project.id)).map(tableBody),
  )

  scope.post<{ Body: NewTableBody }>(
    url,
    {
      schema: {
        summary: 'Creates a table of the kind settings.type names',
        params: projectParamsSchema,
        body: newTableSchema,
        response: { 201: tableSchema, 409: errorSchema },
      },
    },
    async (request, reply): Promise<TableBody> => {
      const { name, id, created_at: createdAt, settings = {} } = request.body
      checkGivenSchema(settings)
      const table = await createTable(store, {
        projectId: request.project.id,
        name,
        kind: kindOfSettings(settings),
        settings,
        ...(id === undefined ? {} : { id }),
        createdAt: createdAt === undefined ? context.now() : parseTime(createdAt),
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
  // A leap second has the form of a time; no clock here shows one.
  if (Number.isNaN(time)) throw new ServiceError(400, `created_at is no time: ${text}`)
  return time
}
