// Lets the routes of a scope take bodies of any size: what reaches validation and handler is the small rest, with
// placeholders that `request.staging` resolves.

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
    /** Content that this upload has staged. Only in scopes with spooled bodies. */
    staging: Staging
    /** Its body is no JSON that is taken whole into memory. */
    isSpooled: boolean | undefined
  }
}

/** For a scope of its own: every body in it is read this way. */
export function acceptSpooledBodies(scope: FastifyInstance, context: ServiceContext): void {
  const pieces = new Pieces(uploadPieces)
  scope.addHook('onRequest', (request, _reply, done) => {
    request.isSpooled = true
    done()
  })
  scope.removeAllContentTypeParsers()
  // The parser only hands the stream on. An error thrown in a parser makes fastify close the connection, and a sender
  // that is still writing would see a reset where the answer should be.
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  scope.addHook('preValidation', async (request, reply) => {
    const payload = request.body as Readable | undefined | null
    if (payload === undefined || payload === null) throw new ServiceError(400, 'the body is missing')
    const { limits } = request
    const room = await roomFor(context.store, request.project.id, limits)
    // A reply that has closed will not close again, so content staged for it would never be dropped.
    if (reply.raw.closed) throw new ServiceError(400, 'the body ended early')
    const staging = new Staging(context.blobs, limits, room, pieces.take(reply.raw))
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
    // Leaving early must not destroy the stream: the answer goes out on the same connection.
    for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      await spooler.write(chunk)
    }
  } catch (error) {
    // Node reads on by itself only where nothing was read: a sender that looks at the answer last would wait for ever.
    payload.resume()
    if (error instanceof ServiceError || payload.errored === null) throw error
    throw new ServiceError(400, 'the body ended early', { cause: error })
  }
  return spooler.finish()
}
