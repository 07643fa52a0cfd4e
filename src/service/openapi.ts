// The OpenAPI document: made of the schemas of all routes when it is first requested.

import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { type Operation, answerComponents, describeAnswers } from './openapi-answers.ts'
import { schemaController } from './request-validators.ts'
import { errorSchema } from './schemas.ts'

/** Records the routes that are registered after this call. Returns a function that makes the document of all of them. */
export function noteRoutes(app: FastifyInstance): () => Promise<object> {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    // Fastify adds a HEAD route to each GET.
    if (route.method !== 'HEAD') routes.push(route)
  })
  return () => documentOf(routes)
}

/** Makes the document in an app that never listens. The packages for it are a hundred files, so they are loaded only now. */
async function documentOf(routes: readonly RouteOptions[]): Promise<object> {
  const [{ default: Fastify }, { default: swagger }] = await Promise.all([
    import('fastify'),
    import('@fastify/swagger'),
  ])
  const app = Fastify({ schemaController, exposeHeadRoutes: false })
  await app.register(swagger, openApiOptions)
  for (const { method, url, schema, handler } of routes)
    app.route({ method, url, handler, ...(schema === undefined ? {} : { schema }) })
  await app.ready()
  return app.swagger()
}

const openApiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    // The version of the interface description.
    info: {
      title: 'Project Document Service',
      version: '1.0.11',
      description:
        'Other methods at these addresses are 405 with Allow, other addresses 404; both have the body of an Error.',
    },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
    security: [{ apiKey: [] }],
    // Relative to the document's own origin: the paths begin with `/api`.
    servers: [{ url: '/' }],
  },
  transformObject: (source) => {
    const document = 'openapiObject' in source ? source.openapiObject : {}
    const paths = (document.paths ?? {}) as Paths
    nameOperations(paths)
    describeAnswers(paths)
    const schemas: Record<string, object> = {}
    const named = nameSchemas(paths, schemas)
    const answers = nameSchemas(answerComponents(errorSchema), schemas) as object
    return {
      ...document,
      paths: named,
      components: { ...document.components, ...answers, schemas },
    } as typeof document
  },
}

type Paths = Record<string, Record<string, Operation>>

const project = '/api/projects/{project_name}'
/** Names of the operations in generated clients. */
const operationIds: Readonly<Record<string, string>> = {
  'get /api/projects': 'listProjects',
  [`get ${project}/files`]: 'getFile',
  [`put ${project}/files`]: 'putFile',
  [`delete ${project}/files`]: 'deleteFile',
  [`get ${project}/tables`]: 'listTables',
  [`post ${project}/tables`]: 'createTable',
  [`post ${project}/tables/storage`]: 'createStorageTable',
  [`get ${project}/tables/{table_id}/schema`]: 'getTableSchema',
  [`post ${project}/tables/{table_id}/reconcile`]: 'reconcile',
  [`post ${project}/tables/{table_id}/tasks`]: 'createTask',
  [`post ${project}/tables/{table_id}/forward`]: 'forward',
  'get /api/download/{node}': 'download',
  'head /api/download/{node}': 'headDownload',
}

function nameOperations(paths: Paths): void {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const id = operationIds[`${method} ${path}`]
      // A copy, because GET and HEAD of one route share one object.
      if (id !== undefined) operations[method] = { ...operation, operationId: id }
    }
  }
}

/** Moves each schema with a title into `schemas`, and leaves a reference in its place. */
function nameSchemas(value: unknown, schemas: Record<string, object>): unknown {
  if (Array.isArray(value)) return value.map((element: unknown) => nameSchemas(element, schemas))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, nameSchemas(member, schemas)]),
  )
  const { title } = members
  if (typeof title !== 'string') return members
  schemas[title] = members
  return { $ref: `#/components/schemas/${title}` }
}
