// `Expect: 100-continue`: the client sends its body when it gets status 100. Node would send that at once. Here it is sent when
// the body is first read, so that a request that is refused by its headers is refused before its body is sent.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/** Makes the server send status 100 only when the body of a request with `Expect: 100-continue` is read. */
export function askForExpectedBodies(app: FastifyInstance): void {
  const expecting = new WeakSet<IncomingMessage>()
  app.server.on('checkContinue', (request: IncomingMessage, answer: ServerResponse) => {
    expecting.add(request)
    // Without status 100 the body may never come, and the next request on the connection would be taken for it.
    answer.setHeader('connection', 'close')
    app.server.emit('request', request, answer)
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.headers.expect === undefined || !expecting.has(request.raw)) done(null, payload)
    else done(null, Readable.from(askAndRead(request.raw, reply.raw), { objectMode: false }))
  })
}

async function* askAndRead(request: IncomingMessage, answer: ServerResponse): AsyncGenerator<Buffer> {
  if (answer.headersSent) return
  answer.removeHeader('connection')
  answer.writeContinue()
  yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
}
