// The faults of any request: delays, refusals, answers that come to nothing, cut and slowed connections.

import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { request as ask } from 'node:http'
import { Readable, Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../src/service/service-error.ts'
import { chunksOf, dropPayload, isSuccess } from './answers.ts'
import type { FaultSwitch } from './fault-switch.ts'

/** Registered before the routes, so that a fault comes before authentication. `closing` ends delays early. */
export function registerFaultHooks(app: FastifyInstance, faults: FaultSwitch, closing: AbortSignal): void {
  // As many answers are held back at once as there are requests.
  setMaxListeners(0, closing)
  app.addHook('onRequest', async (request, reply) => {
    const latency = faults.take('latency', request.call)
    if (latency !== undefined) await sleep(latency.ms, undefined, { signal: closing }).catch(() => undefined)
    const page = faults.take('page', request.call)
    if (page !== undefined) {
      const { body, isSized, etag } = page
      if (etag !== undefined) void reply.header('etag', etag)
      return reply.type('text/html; charset=utf-8').send(isSized ? body : Readable.from([body]))
    }
    const status = faults.take('status', request.call)
    if (status === undefined) return undefined
    if (status.retryAfter !== undefined) void reply.header('retry-after', status.retryAfter)
    const errorMessage = `injected fault: status ${status.status}`
    if (status.status < 400) return reply.code(status.status).send({ errorMessage })
    throw new ServiceError(status.status, errorMessage)
  })

  const late = randomUUID()
  app.addHook('onRequest', async (request, reply) => {
    const { method, url, headers } = request
    if (method !== 'DELETE' || headers['x-late'] === late) return undefined
    const fault = faults.take('late-delete', request.call)
    if (fault === undefined) return undefined
    const port = request.raw.socket.localPort
    const carryOut = async (): Promise<void> => {
      await sleep(fault.ms, undefined, { signal: closing })
      const again = { host: '127.0.0.1', port, method, path: url, headers: { ...headers, 'x-late': late } }
      ask(again, (answer) => answer.resume())
        .on('error', () => {})
        .end()
    }
    // A service that is closed by then carries nothing out.
    void carryOut().catch(() => undefined)
    return reply.code(202).send()
  })

  // In the hooks below a request whose connection was cut ends by `done` never being called.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const cut = faults.take('cut-request', request.call)
    if (cut === undefined) done(null, payload)
    else if (hasBody(request)) done(null, cutBody(request, payload, cut.afterBytes))
    else request.raw.socket.destroy()
  })

  app.addHook('onSend', (request, reply, payload, done) => {
    if (faults.take('lost-answer', request.call) !== undefined) {
      dropPayload(payload)
      request.raw.socket.destroy()
      return
    }
    const error = faults.take('error-after-commit', request.call)
    if (error !== undefined) {
      dropPayload(payload)
      const body = JSON.stringify({ errorMessage: 'injected fault: error after commit' })
      void reply
        .code(error.status ?? 500)
        .type('application/json; charset=utf-8')
        .header('content-length', Buffer.byteLength(body))
      done(null, body)
      return
    }
    const cut = isSuccess(reply) ? faults.take('cut-response', request.call) : undefined
    if (cut !== undefined) {
      sendCut(request, reply, payload, cut.afterBytes).catch(() => request.raw.socket.destroy())
      return
    }
    const drip = isSuccess(reply) ? faults.take('slow-drip', request.call) : undefined
    if (drip === undefined) {
      done(null, payload)
      return
    }
    if (typeof payload === 'string') void reply.header('content-length', Buffer.byteLength(payload))
    done(null, Readable.from(dripped(chunksOf(payload), drip.bytesPerSecond, closing)))
  })
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function cutBody(request: FastifyRequest, payload: Readable, afterBytes: number): Readable {
  let bytes = 0
  const cut = (): void => void request.raw.socket.destroy()
  return payload.pipe(
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.byteLength
        if (bytes >= afterBytes) cut()
        else done(null, chunk)
      },
      // A body shorter than that is cut at its end: the fault promises that nothing is stored.
      flush: cut,
    }),
  )
}

async function sendCut(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  afterBytes: number,
): Promise<void> {
  const { raw } = reply
  if (typeof payload === 'string') void reply.header('content-length', Buffer.byteLength(payload))
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
  let left = afterBytes
  for await (const chunk of chunksOf(payload)) {
    const part = chunk.subarray(0, left)
    left -= part.byteLength
    await new Promise<void>((resolve, reject) => {
      raw.write(part, (error) => (error ? reject(error) : resolve()))
    })
    if (left === 0) {
      request.raw.socket.destroy()
      return
    }
  }
  raw.end()
}

async function* dripped(
  chunks: AsyncIterable<Buffer>,
  bytesPerSecond: number,
  closing: AbortSignal,
): AsyncGenerator<Buffer> {
  const dropsPerSecond = Math.min(20, bytesPerSecond)
  const dropBytes = Math.max(1, Math.floor(bytesPerSecond / dropsPerSecond))
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += dropBytes) {
      await sleep(1000 / dropsPerSecond, undefined, { signal: closing })
      yield chunk.subarray(at, at + dropBytes)
    }
  }
}
