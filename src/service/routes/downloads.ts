// GET /download/{node}?expires=…&signature=…: where presigned links lead. No key: the signature is the permission.

import { create as dispositionOf } from 'content-disposition'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { ServiceContext } from '../context.ts'
import { parseRange } from '../downloads/range.ts'
import { errorSchema } from '../schemas.ts'
import { ServiceError } from '../service-error.ts'
import { findById } from '../store/nodes.ts'
import { takeFault } from '../faults/call-log.ts'

interface DownloadRoute {
  Params: { node: string }
  Querystring: { expires: string; signature: string }
}

const textSchema = { type: 'string' }
const contentHeaders = {
  ETag: { ...textSchema, description: 'The SHA-256 of the content.' },
  'Accept-Ranges': { const: 'bytes' },
  'Content-Disposition': { ...textSchema, description: "The document's name." },
  'Content-Security-Policy': { const: 'sandbox' },
}
const rangeHeader = {
  'Content-Range': {
    ...textSchema,
    description: 'Which bytes of how many; `bytes */N` where there are none of them.',
  },
}
const anyContent = { '*/*': { schema: {} } }

export function registerDownloads(scope: FastifyInstance, context: ServiceContext): void {
  scope.route<DownloadRoute>({
    method: ['GET', 'HEAD'],
    url: '/download/:node',
    exposeHeadRoute: false,
    schema: {
      summary: 'The content behind a presigned url; byte ranges are served',
      security: [],
      querystring: Type.Object({ expires: Type.String(), signature: Type.String() }),
      response: {
        200: { description: 'All of it', headers: contentHeaders, content: anyContent },
        206: {
          description: 'The range asked for',
          headers: { ...contentHeaders, ...rangeHeader },
          content: anyContent,
        },
        304: { type: 'null', description: 'If-None-Match names what it is', headers: contentHeaders },
        416: { ...errorSchema, headers: { ...contentHeaders, ...rangeHeader } },
      },
    },
    handler: async (request, reply) => {
      const state = context.signer.check({ nodeId: request.params.node, ...request.query }, context.now())
      if (state === 'forged') throw new ServiceError(403, 'the signature does not fit this link')
      if (state === 'expired' || takeFault(context, request, 'expired-url') !== undefined) {
        throw new ServiceError(403, 'the link has expired: ask for a new one')
      }
      const node = await findById(context.store, request.params.node)
      if (typeof node?.blob !== 'string') throw new ServiceError(404, 'the document was replaced or deleted')
      request.downloadOf = node.project_id
      const size = node.size ?? 0
      const etag = `"${node.blob}"`
      void reply.headers({
        etag,
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-transform',
        // The content is the uploader's: a browser must not run it as ours.
        'content-security-policy': 'sandbox',
        'content-disposition': dispositionOf(node.name, { type: 'inline' }),
      })
      void reply.type(node.mimetype ?? 'application/octet-stream')
      const { 'if-none-match': known, 'if-range': condition } = request.headers
      if (known !== undefined && known.split(',').some((tag) => tag.trim() === etag))
        return reply.code(304).send()
      const isRanged = request.headers.range !== undefined && (condition === undefined || condition === etag)
      const ignored = isRanged && takeFault(context, request, 'ignore-range') !== undefined
      const range = isRanged && !ignored ? parseRange(request.headers.range, size) : undefined
      if (range === 'unsatisfiable') {
        void reply.header('content-range', `bytes */${size}`)
        throw new ServiceError(416, `the document has ${size} bytes`)
      }
      const { start, end } = range ?? { start: 0, end: size - 1 }
      if (range !== undefined) void reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
      void reply.header('content-length', end - start + 1)
      if (request.method === 'HEAD') return reply.send()
      if (size === 0) return reply.send('')
      const content = await context.blobs.load(node.blob, start, end)
      if (content === undefined) throw new ServiceError(404, 'the document was replaced or deleted')
      return reply.send(content)
    },
  })
}
