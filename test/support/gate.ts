// A gate in front of the service: every request is let through, kept from it, or let through with its answer kept back.
// So a test stops the world at a step of docmount's work without docmount having a hook for it. An answer kept back
// when the client goes away never arrives.

import {
  createServer,
  request as send,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { inOrder } from './in-order.ts'

/**
 * - `pass`: to the service and back.
 * - `keep`: never reaches the service; the client waits.
 * - `keep-answer`: carried out; the client waits.
 * - `late`: the connection is cut; the request reaches the service with `release`.
 * - `unauthorized`: 401, as a service answers that has revoked the key.
 */
export type Verdict = 'pass' | 'keep' | 'keep-answer' | 'late' | 'unauthorized'

export interface GateRequest {
  readonly method: string
  /** The document's path in the project; the URL's path for what is no document. */
  readonly path: string
  readonly apiKey: string | undefined
  /** As its header says; 0 where it says nothing. */
  readonly bodyBytes: number
}

export interface Gate extends AsyncDisposable {
  /** Ends with `/api`. */
  readonly baseUrl: string
  /** Asked once per request; `pass` for all until set. */
  decide: (request: GateRequest) => Verdict
  /** Requests kept from the service whose client still waits, and late ones. */
  readonly kept: number
  /** Lets go what was kept from the service and whose client is still there, and what is late. */
  release(): void
  /** Cuts the connections of those whose answers are kept back: the answers are lost. */
  cut(): void
  /** Resolves when every request that reached the service is carried out. */
  quiet(): Promise<void>
}

export async function startGate(servicePort: () => number): Promise<Gate> {
  const kept = new Set<() => void>()
  const carriedOut = new Set<Promise<void>>()
  const unanswered = new Set<ServerResponse>()

  const toService = ({ method, url, headers }: IncomingMessage): ClientRequest =>
    send({ host: '127.0.0.1', port: servicePort(), method, path: url, headers, agent: false })

  function forward(request: IncomingMessage, response: ServerResponse, isAnswered: boolean): void {
    const done = new Promise<void>((resolve) => {
      const upstream = toService(request)
      upstream.on('response', (answer) => {
        answer.on('close', resolve)
        if (!isAnswered) {
          unanswered.add(response)
          answer.resume()
          return
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      upstream.on('error', () => {
        resolve()
        response.destroy()
      })
      // A sender that goes away in the middle of its body takes the request with it, as on a real wire.
      request.on('close', () => {
        if (!request.complete) upstream.destroy()
      })
      request.pipe(upstream)
    })
    carriedOut.add(done)
    void done.finally(() => carriedOut.delete(done))
  }

  function carryOut(request: IncomingMessage, body: Buffer): void {
    const done = new Promise<void>((resolve, reject) => {
      const upstream = toService(request)
      upstream.on('response', (answer) => answer.resume().on('close', resolve))
      upstream.on('error', reject)
      upstream.end(body)
    })
    carriedOut.add(done)
    void done.finally(() => carriedOut.delete(done))
  }

  const listener = inOrder((request, response) => {
    const { method = '', url = '', headers } = request
    const apiKey = headers['x-api-key'] as string | undefined
    const bodyBytes = Number(headers['content-length'] ?? 0)
    const verdict = gate.decide({ method, path: documentPathOf(url), apiKey, bodyBytes })
    if (verdict === 'unauthorized') {
      request.resume()
      response
        .writeHead(401, { 'content-type': 'application/json' })
        .end('{"errorMessage":"the key is revoked"}')
    } else if (verdict === 'keep') {
      const letGo = (): void => forward(request, response, true)
      kept.add(letGo)
      response.on('close', () => kept.delete(letGo))
    } else if (verdict === 'late') {
      void buffer(request).then((body) => {
        kept.add(() => carryOut(request, body))
        request.socket.destroy()
      })
    } else forward(request, response, verdict === 'pass')
  })
  const server = createServer({ requestTimeout: 0 }, listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))

  const gate: Gate = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    decide: () => 'pass',
    get kept() {
      return kept.size
    },
    release() {
      for (const letGo of kept) letGo()
      kept.clear()
    },
    cut() {
      for (const response of unanswered) response.destroy()
      unanswered.clear()
    },
    async quiet() {
      while (carriedOut.size > 0) await Promise.all(carriedOut)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
  return gate
}

function documentPathOf(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://gate')
  return searchParams.get('path') ?? pathname
}
