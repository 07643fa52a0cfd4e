// Requests that Node would refuse without an Error body, or would accept though HTTP forbids them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../service-error.ts'
import { answerOnSocket } from './client-error.ts'

/** Options for Node's server: a missing Host header is refused by `refuseOddRequests`, with an Error body. */
export const leaveHostToUs: { readonly requireHostHeader: false } = { requireHostHeader: false }

export function refuseOddRequests(app: FastifyInstance): void {
  // Node would drop headers beyond 2,000, Content-Length among them. Their total size is limited anyway.
  app.server.maxHeadersCount = 0
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    answerOnSocket(
      socket,
      405,
      'CONNECT is for proxies: this is none',
      'Allow: DELETE, GET, HEAD, POST, PUT\r\n',
    ),
  )
  app.server.on('checkExpectation', (_request: IncomingMessage, answer: ServerResponse) => {
    const body = JSON.stringify({ errorMessage: 'Expect takes 100-continue only' })
    answer.writeHead(417, { 'content-type': 'application/json', connection: 'close' }).end(body)
  })
  app.addHook('onRequest', (request, reply, done) => {
    const { httpVersion, rawHeaders } = request.raw
    // Node's parser accepts `HTTP/2.0` in a request line.
    if (httpVersion !== '1.1' && httpVersion !== '1.0')
      throw new ServiceError(505, `HTTP/${httpVersion} is not spoken here: HTTP/1.1 is`)
    // RFC 9112, 3.2: of two Host headers, a proxy in front may have used the other one.
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
    if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
      throw new ServiceError(400, `a request has one Host header, not ${hosts}`)
    const { 'content-encoding': encoding = 'identity', 'transfer-encoding': coding } = request.headers
    // RFC 9112, 6.1: the end of the body would be a guess, and a proxy in front may guess another.
    if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
      void reply.header('connection', 'close')
      throw httpVersion === '1.0'
        ? new ServiceError(400, 'a request in HTTP/1.0 has no Transfer-Encoding')
        : new ServiceError(501, 'of transfer codings only chunked is known')
    }
    if (encoding.toLowerCase() !== 'identity')
      throw new ServiceError(415, `a body encoded with ${encoding} is not taken: send it as it is`)
    done()
  })
}
