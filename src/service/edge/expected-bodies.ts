// `Expect: 100-continue`: the sender waits with its body until it is asked for it, which Node would do at once. Here it is asked
// when somebody begins to read, so that what is refused by its headers is refused before its body is sent.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

export function askForExpectedBodies(app: FastifyInstance): void {
  const waiting = new WeakSet<IncomingMessage>()
  app.server.on('checkContinue', (request: IncomingMessage, answer: ServerResponse) => {
    waiting.add(request)
    // A body that is not asked for may never come: what came next on the connection would be taken for it.
    answer.setHeader('connection', 'close')
    app.server.emit('request', request, answer)
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.headers.expect === undefined || !waiting.has(request.raw)) done(null, payload)
    else done(null, Readable.from(asked(request.raw, reply.raw), { objectMode: false }))
  })
}

async function* asked(request: IncomingMessage, answer: ServerResponse): AsyncGenerator<Buffer> {
  if (answer.headersSent) return
  answer.removeHeader('connection')
  answer.writeContinue()
  yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}
