// POST /projects/{project_name}/tables/storage.

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { logChange } from '../observe/logs.ts'
import { errorSchema, projectParamsSchema } from '../schemas.ts'
import { copiedFrom, keepContent, receiveContent } from '../uploads/receive-content.ts'
import { acceptSpooledBodies } from '../uploads/spooled-body.ts'
import { tablesStore } from './database.ts'
import { createStorageTable } from './documents-store.ts'
import { type StorageBody, type StoredBody, storageSchema, storedSchema } from './schemas.ts'
import { tableBody } from './tables-store.ts'

/** Needs a scope of its own, in which bodies of any size are spooled. */
export function registerStorageRoute(scope: FastifyInstance, context: ServiceContext): void {
  acceptSpooledBodies(scope, context)

  scope.post<{ Body: StorageBody }>(
    '/projects/:project_name/tables/storage',
    {
      schema: {
        summary: 'Creates a storage table and uploads a document into it',
        description:
          'With `zero_retention_mode` the content is received, measured and dropped; `settings` says so.',
        params: projectParamsSchema,
        body: storageSchema,
        response: { 201: storedSchema, 409: errorSchema },
      },
    },
    async (request, reply): Promise<StoredBody> => {
      const { name, document } = request.body
      const isZeroRetention = document.zero_retention_mode === true
      const { sources, ...content } = await receiveContent(context, request, document)
      const record = (): ReturnType<typeof createStorageTable> =>
        createStorageTable(
          tablesStore(context.store),
          {
            projectId: request.project.id,
            name,
            kind: 'storage',
            settings: { type: 'storage', zero_retention_mode: isZeroRetention },
            createdAt: context.now(),
          },
          {
            filename: document.filename,
            mimetype: document.mimetype,
            size: content.size,
            blob: isZeroRetention ? null : content.sha256,
          },
          request.limits,
        )
      // Staged content without a row is removed at the end of the request.
      const { table, documentId } = await (isZeroRetention ? record() : keepContent(context, content, record))
      const { filename, mimetype } = document
      const sha256 = isZeroRetention ? undefined : content.sha256
      logChange(context, request, 'stored in a table', {
        table: name,
        filename,
        size: content.size,
        mimetype,
        sha256,
        ...copiedFrom(sources),
      })
      void reply.code(201)
      return {
        ...tableBody(table),
        assets_created: 1,
        asset_ids: [documentId],
        message: isZeroRetention
          ? `${document.filename} received; its content is not kept`
          : `${document.filename} stored`,
      }
    },
  )
}
