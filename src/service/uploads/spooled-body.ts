// Lets the routes of a scope accept bodies of any size: base64 in the body is staged, and validation and handler get the small
// rest, with placeholders that `request.staging` resolves.

import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { Pieces, uploadPieces } from '../pieces.ts'
import { ServiceError } from '../service-error.ts'
import { roomFor } from '../store/usage.ts'
import { JsonSpooler } from './json-spooler.ts'
import { Staging } from './staging.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Contents that this upload has staged. Only in scopes with spooled bodies. */
    staging: Staging
    /** True when the body is spooled, and so not held in memory as JSON (`throttleJson` ignores it). */
    isSpooled: boolean | undefined
  }
}

/** Call it for a scope in which all bodies are to be spooled. */
export function acceptSpooledBodies(scope: FastifyInstance, context: ServiceContext): void {
  const pieces = new Pieces(uploadPieces)
  scope.addHook('onRequest', (request, _reply, done) => {
    request.isSpooled = true
    done()
  })
  scope.removeAllContentTypeParsers()
  // The parser passes the stream on unread. After an error in a parser, fastify closes the connection, and a client that
  // is still sending would get a reset instead of the response.
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  scope.addHook('preValidation', async (request, reply) => {
    const payload = request.body as Readable | undefined | null
    if (payload === undefined || payload === null) throw new ServiceError(400, 'the body is missing')
    const { limits } = request
    const quotaBytes = await roomFor(context.store, request.project.id, limits)
    // A reply that is closed emits no `close` any more, so contents staged for it would never be discarded.
    if (reply.raw.closed) throw new ServiceError(400, 'the body ended early')
    const staging = new Staging(context.blobs, limits, quotaBytes, pieces.take(reply.raw))
    request.staging = staging
    reply.raw.once('close', () => {
      staging
        .discard()
        .catch((error: unknown) => context.log.warn({ error }, 'could not drop staged content'))
    })
    const length = Number(request.headers['content-length'] ?? Infinity)
    request.body = await spool(payload, new JsonSpooler(staging, limits, length))
  })
}

async function spool(payload: Readable, spooler: JsonSpooler): Promise<unknown> {
  try {
    // Leaving the loop early must not destroy the stream: the response is sent on the same connection.
    for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      await spooler.write(chunk)
    }
  } catch (error) {
    // Node discards the rest of a body only if none of it was read. Without `resume` a client that reads the response only
    // after sending would wait for ever.
    payload.resume()
    if (error instanceof ServiceError || payload.errored === null) throw error
    throw new ServiceError(400, 'the body ended early', { cause: error })
  }
  return spooler.finish()
}
