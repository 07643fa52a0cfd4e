// GET /download/{node}?expires=…&signature=…: the target of presigned links. It needs no key: the signature is the permission.

import { create as dispositionOf } from 'content-disposition'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from '../json-schema.ts'
import { type Readable, pipeline } from 'node:stream'
import { smallBytes } from '../blobs/small-blob.ts'
import { DamagedContentError, checked, damagedDocument } from '../blobs/intact.ts'
import type { ServiceContext } from '../context.ts'
import { Pieces, downloadPieces } from '../pieces.ts'
import { isKnown, isWanted } from '../downloads/conditions.ts'
import { parseRange } from '../downloads/range.ts'
import { Turns } from '../downloads/turns.ts'
import { errorSchema } from '../schemas.ts'
import { ServiceError } from '../service-error.ts'
import type { NodeRow } from '../store/database.ts'
import { findById } from '../store/nodes.ts'

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
  const pieces = new Pieces(downloadPieces)
  const turns = new Turns(scope.server)
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
        307: {
          type: 'null',
          description: 'Sent on to where the bytes are, with a URL that is good for a minute',
          headers: {
            ETag: contentHeaders.ETag,
            Location: { ...textSchema, description: 'A secret, as the link itself is.' },
          },
        },
        304: { type: 'null', description: 'If-None-Match names what it is', headers: contentHeaders },
        412: { ...errorSchema, headers: contentHeaders },
        416: { ...errorSchema, headers: { ...contentHeaders, ...rangeHeader } },
      },
    },
    handler: async (request, reply) => {
      const state = context.signer.check({ nodeId: request.params.node, ...request.query }, context.now())
      if (state === 'forged') throw new ServiceError(403, 'the signature does not fit this link')
      if (state === 'expired') throw new ServiceError(403, 'the link has expired: ask for a new one')
      const node = await findById(context.store, request.params.node)
      if (typeof node?.blob !== 'string') throw gone()
      request.downloadOf = node.project_id
      const size = node.size ?? 0
      const etag = `"${node.blob}"`
      const mimetype = node.mimetype ?? 'application/octet-stream'
      const disposition = dispositionOf(node.name, { type: 'inline' })
      void reply.headers({
        etag,
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-transform',
        // Users share links, so pages of any origin may embed the content.
        'cross-origin-resource-policy': 'cross-origin',
        // The content is the uploader's: a browser must not run it as ours.
        'content-security-policy': 'sandbox',
        'content-disposition': disposition,
      })
      void reply.type(mimetype)
      const { 'if-match': wanted, 'if-none-match': known, 'if-range': condition } = request.headers
      if (!isWanted(wanted, etag)) throw new ServiceError(412, 'the document is not the one If-Match names')
      if (isKnown(known, etag)) return reply.code(304).send()
      // A range is of GET alone: RFC 9110 §14.2.
      const isGet = request.method === 'GET'
      const isRanged =
        isGet && request.headers.range !== undefined && (condition === undefined || condition === etag)
      const range = isRanged ? parseRange(request.headers.range, size) : undefined
      if (range === 'unsatisfiable') {
        void reply.header('content-range', `bytes */${size}`)
        throw new ServiceError(416, `the document has ${size} bytes`)
      }
      // A request with a condition on our tag is answered here: the bucket would compare it with its own tag.
      const hasCondition = wanted !== undefined || condition === etag
      if (isGet && size > 0 && !hasCondition) {
        const place = await context.blobs.linkTo?.(node.blob, { mimetype, disposition }, context.now())
        if (place !== undefined) return redirect(reply, place)
      }
      const { start, end } = range ?? { start: 0, end: size - 1 }
      if (range !== undefined) void reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
      void reply.header('content-length', end - start + 1)
      if (!isGet) return reply.send()
      if (size === 0) return reply.send('')
      return reply.send(
        await contentOf(context, node, turns, { start, end, pieceBytes: pieces.take(reply.raw) }),
      )
    },
  })
}

/**
 * Returns the bytes from `start` to `end` (inclusive). Throws ServiceError 404 if the document has just gone, 503 if its content is
 * damaged; damage found while a stream is sent cuts it off.
 */
async function contentOf(
  context: ServiceContext,
  { id, path, blob, size }: NodeRow,
  turns: Turns,
  { start, end, pieceBytes }: { readonly start: number; readonly end: number; readonly pieceBytes: number },
): Promise<Buffer | Readable> {
  const sha256 = blob ?? ''
  const logDamage = (error: unknown): void =>
    context.log.error({ error, path, sha256 }, 'a content is damaged')
  // To wait for a turn would cost more than to read a small range.
  if (end - start >= smallBytes) await turns.begin()
  try {
    const content = await context.blobs.load(sha256, start, end, pieceBytes)
    if (content === undefined) {
      if ((await findById(context.store, id)) === undefined) throw gone()
      throw new DamagedContentError(sha256, 'is not there')
    }
    const isWhole = start === 0 && end + 1 === size
    const paced = Buffer.isBuffer(content) ? content : pipeline(content, turns.pace(), () => undefined)
    const sent = isWhole ? checked(paced, sha256) : paced
    if (!Buffer.isBuffer(sent))
      sent.once('error', (error) => {
        if (error instanceof DamagedContentError) logDamage(error)
      })
    return sent
  } catch (error) {
    if (!(error instanceof DamagedContentError)) throw error
    logDamage(error)
    throw damagedDocument(path, error)
  }
}

function gone(): ServiceError {
  return new ServiceError(404, 'the document was replaced or deleted')
}

/** Redirects to the bytes in the bucket, with our own ETag, which clients compare with that of the document. */
function redirect(reply: FastifyReply, place: string): FastifyReply {
  for (const name of ['accept-ranges', 'content-disposition', 'content-type']) void reply.removeHeader(name)
  return reply.code(307).headers({ location: place, 'cache-control': 'no-store' }).send()
}
