// A bare node:http server for answers that no service would give: redirects, wrong lengths, broken JSON. It answers
// exactly what the test says and remembers what it was asked.

import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RawRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

export interface RawServer extends AsyncDisposable {
  /** Cuts every connection, and takes no other. */
  goAway(): void
  /** `http://127.0.0.1:PORT`, or with the address it was started at. */
  readonly origin: string
  readonly requests: readonly RawRequest[]
  /** TCP connections made so far. */
  readonly connectionCount: number
}

export type RawHandler = (request: IncomingMessage, response: ServerResponse, count: number) => void

/** Starts it on any free port; `count` is 1 for the first request. */
export async function startRawServer(handler: RawHandler, host = '127.0.0.1'): Promise<RawServer> {
  const requests: RawRequest[] = []
  let connectionCount = 0
  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
    handler(request, response, requests.length)
  })
  server.on('connection', () => {
    connectionCount++
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    origin: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    get connectionCount() {
      return connectionCount
    },
    goAway() {
      server.close()
      server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers JSON. */
export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
