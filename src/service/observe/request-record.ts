// The record of a request for logs and metrics. It contains the id of the API key, but neither the key nor a signature.

import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientAddress } from '../edge/client-address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the project whose document is downloaded. */
    downloadOf: string | undefined
  }
}

export interface RequestRecord {
  readonly method: string
  /** Without the query: it may hold a signature. */
  readonly path: string
  /** The `path` parameter of the query: the path of a document. */
  readonly document: string | undefined
  readonly status: number
  readonly ms: number
  /** Bytes of the answer and of the request, headers included. */
  readonly sent: number
  readonly received: number
  readonly key: string | undefined
  readonly request: string
  readonly address: string
  /** True when the connection closed before the response was complete. */
  readonly aborted: true | undefined
}

/** Bytes received and sent on a connection until the end of its last request. */
const counted = new WeakMap<Socket, { readonly received: number; readonly sent: number }>()

/** Call once, when the request is over; `start` is the `performance.now()` of its beginning. */
export function recordOf(request: FastifyRequest, reply: FastifyReply, start: number): RequestRecord {
  const { socket } = request.raw
  const before = counted.get(socket)
  const now = { received: socket.bytesRead, sent: socket.bytesWritten }
  counted.set(socket, now)
  const { path } = (request.query ?? {}) as { path?: unknown }
  return {
    method: request.method,
    path: request.url.split('?', 1)[0] ?? '',
    document: typeof path === 'string' ? path.slice(0, 4096) : undefined,
    status: reply.statusCode,
    ms: Math.round((performance.now() - start) * 10) / 10,
    sent: now.sent - (before?.sent ?? 0),
    received: now.received - (before?.received ?? 0),
    key: request.keyId,
    request: request.id,
    address: clientAddress(request),
    aborted: reply.raw.writableFinished ? undefined : true,
  }
}
