// PUT, GET and DELETE /projects/{project_name}/files?path=…

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from '../json-schema.ts'
import { checkScope, onlyWayTo } from '../authentication.ts'
import type { ServiceContext } from '../context.ts'
import { checkNewPath, parseDocumentPath } from '../document-path.ts'
import { exceeds } from '../limits.ts'
import { logChange } from '../observe/logs.ts'
import {
  type DocumentBody,
  type FileBody,
  documentSchema,
  errorSchema,
  fileSchema,
  folderSchema,
  projectParamsSchema,
} from '../schemas.ts'
import { ServiceError } from '../service-error.ts'
import type { NewFile } from '../store/create-file.ts'
import { findByPath, taken } from '../store/nodes.ts'
import { isUniqueViolation } from '../store/transact.ts'
import { quotaOf } from '../store/usage.ts'
import { commitFile, copiedFrom, receiveContent } from '../uploads/receive-content.ts'
import { acceptSpooledBodies } from '../uploads/spooled-body.ts'
import { entryBody, fileBody, folderBody } from './node-bodies.ts'
import { nameOf, pathBelow } from '../../path.ts'

const url = '/projects/:project_name/files'
const smallBodyBytes = 64 * 1024

interface FilesRoute {
  Params: { project_name: string }
  Querystring: { path?: string }
}

/** Registers the routes in a scope that authenticates. */
export async function registerFiles(scope: FastifyInstance, context: ServiceContext): Promise<void> {
  const pathOf = (request: FastifyRequest<FilesRoute>): string => {
    const path = parseDocumentPath(request.query.path)
    checkScope(request.scope, path)
    return path
  }
  const schema = { params: projectParamsSchema }

  scope.get<FilesRoute>(
    url,
    {
      schema: {
        ...schema,
        summary: 'Resolves a path: a file with a presigned url, or a folder with its children',
        querystring: pathQuerySchema('The root where absent.', false),
        response: { 200: Type.Union([fileSchema, folderSchema]) },
      },
    },
    async (request, reply) => {
      const path = parseDocumentPath(request.query.path)
      const onlyChild = onlyWayTo(request.scope, path)
      if (onlyChild !== undefined) return oneChildBody(context, request, path, onlyChild)
      checkScope(request.scope, path)
      const node = await findByPath(context.store, request.project.id, path)
      if (node === undefined) throw new ServiceError(404, `nothing at ${path}`)
      if (node.kind === 'file') return fileBody(context, context.edge.originOf(request), node)
      // A folder's body is JSON text already.
      return reply
        .type('application/json; charset=utf-8')
        .send(await folderBody(context, context.edge.originOf(request), node))
    },
  )

  scope.delete<FilesRoute>(
    url,
    {
      schema: {
        ...schema,
        summary: 'Deletes a file, or a folder with everything in it',
        querystring: pathQuerySchema('Not the root.', true),
        response: { 204: Type.Null({ description: 'Deleted.' }) },
      },
    },
    async (request, reply) => {
      const path = pathOf(request)
      if (path === '/') throw new ServiceError(400, 'the project root cannot be deleted')
      const projectId = request.project.id
      const now = context.now()
      const removed = await context.commits.run('removeTree', { projectId, path, now })
      if (removed.kind === undefined) throw new ServiceError(404, `nothing at ${path}`)
      context.blobs.collect(removed.blobs)
      // A large folder has lost its name only: what is in it is removed in the background.
      if (removed.isDetached) context.detachedTrees.startClearing()
      context.tidying.ask()
      logChange(context, request, 'deleted', { path, kind: removed.kind })
      return reply.code(204).send()
    },
  )

  await scope.register(async (uploads) => {
    acceptSpooledBodies(uploads, context)

    uploads.put<FilesRoute & { Body: DocumentBody }>(
      url,
      {
        schema: {
          ...schema,
          summary: 'Uploads a file to a path that is free; parents are made',
          querystring: pathQuerySchema('Leading slash optional, no `..` segments.', true),
          body: documentSchema,
          response: { 201: fileSchema, 409: errorSchema },
        },
        // Before the body is read: a 409 costs the sender little, however large the file.
        onRequest: async (request) => {
          const path = pathOf(request)
          if (path === '/') throw new ServiceError(400, 'path is missing: name the file')
          checkNewPath(path, context.limits)
          const length = request.headers['content-length']
          // A chunked body has no length, and may be large.
          if (length !== undefined) {
            // Receiving a small body costs less than a query for the path: its commit reports the 409.
            if (Number(length) <= smallBodyBytes) return
            // A document beyond the limit is refused for its size, not for its path: deleting the existing node would not help.
            if (exceeds(Number(length), request.limits.documentBytes)) return
          }
          const existing = await findByPath(context.store, request.project.id, path)
          if (existing !== undefined) throw taken(existing.kind, path)
        },
      },
      async (request, reply): Promise<FileBody> => {
        const { sources, ...content } = await receiveContent(context, request, request.body)
        const file = {
          projectId: request.project.id,
          path: pathOf(request),
          size: content.size,
          mimetype: request.body.mimetype,
          blob: content.sha256,
        }
        const made = await commitFile(context, content, {
          file,
          now: context.now(),
          quota: quotaOf(request.limits),
        }).catch((error: unknown) => refuseTaken(context, file, error))
        const { path, size, mimetype, blob: sha256 } = file
        logChange(context, request, 'stored', { path, size, mimetype, sha256, ...copiedFrom(sources) })
        void reply.code(201)
        return fileBody(context, context.edge.originOf(request), made)
      },
    )
  })
}

/** Returns a folder above the one that the key gives access to; it shows only the child `childName`. Throws ServiceError 404. */
async function oneChildBody(
  context: ServiceContext,
  request: FastifyRequest,
  path: string,
  childName: string,
): Promise<object> {
  const projectId = request.project.id
  const folder = await findByPath(context.store, projectId, path)
  if (folder?.kind !== 'folder') throw new ServiceError(404, `nothing at ${path}`)
  const child = await findByPath(context.store, projectId, pathBelow(path, childName))
  const origin = context.edge.originOf(request)
  const entries = child === undefined ? [] : [entryBody(context, origin, child, context.now())]
  return { ftype: 'folder', name: nameOf(path) || '/', entries }
}

/** Throws the error for an upload whose path another upload took meanwhile: the same as for one that begins later. */
async function refuseTaken(context: ServiceContext, file: NewFile, error: unknown): Promise<never> {
  if (!isUniqueViolation(error)) throw error
  const existing = await findByPath(context.store, file.projectId, file.path)
  throw taken(existing?.kind ?? 'file', file.path)
}

function pathQuerySchema(hint: string, isRequired: boolean): object {
  const path = Type.String({ description: `Absolute path inside the project. ${hint}` })
  return Type.Object({ path: isRequired ? path : Type.Optional(path) })
}
