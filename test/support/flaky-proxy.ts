// A TCP proxy in front of an HTTP service that behaves like a network: every request is late, a connection can be cut
// after so many bytes, or go silent. Knows just enough of HTTP to tell one request of a kept connection from the next.

import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connectBehind } from './connect-behind.ts'

export interface FlakyProxyOptions {
  /** The service's port on this machine. */
  readonly targetPort: number
  /** Milliseconds from the first byte of a request to when the service gets it. */
  readonly latencyMs?: number
}

export interface FlakyProxy {
  readonly port: number
  /** Milliseconds per request; changes for requests from now on. */
  latencyMs: number
  /** Resets each connection after this many bytes of answers; undefined = never. */
  cutAfterBytes: number | undefined
  /** Swallows everything in both directions; connections stay open. */
  isBlackhole: boolean
  /** Requests passed on so far. */
  readonly requests: number
  /** Connections taken so far. */
  readonly connections: number
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function startFlakyProxy(options: FlakyProxyOptions): Promise<FlakyProxy> {
  const sockets = new Set<Socket>()
  let requests = 0
  let connections = 0
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true })
  const proxy: FlakyProxy = {
    get port() {
      return (server.address() as AddressInfo).port
    },
    get requests() {
      return requests
    },
    get connections() {
      return connections
    },
    latencyMs: options.latencyMs ?? 0,
    cutAfterBytes: undefined,
    isBlackhole: false,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }

  server.on('connection', (client) => {
    connections++
    const upstream = connectBehind(client, options.targetPort, sockets)
    delayRequests(client, upstream, proxy, () => requests++)
    passAnswers(client, upstream, proxy)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return proxy
}

/**
 * A request begins with the first byte after an answer (HTTP/1.1 without pipelining): from there on everything is passed
 * on `latencyMs` late, in order.
 */
function delayRequests(client: Socket, upstream: Socket, proxy: FlakyProxy, count: () => void): void {
  let isInRequest = false
  let delayMs = 0
  upstream.on('data', () => {
    isInRequest = false
  })
  client.on('data', (chunk: Buffer) => {
    if (proxy.isBlackhole) return
    if (!isInRequest) {
      isInRequest = true
      delayMs = proxy.latencyMs
      count()
    }
    pass(upstream, client, chunk, delayMs)
  })
  client.on('end', () => {
    if (!proxy.isBlackhole) later(delayMs, () => upstream.end())
  })
}

function passAnswers(client: Socket, upstream: Socket, proxy: FlakyProxy): void {
  let left = proxy.cutAfterBytes
  upstream.on('data', (chunk: Buffer) => {
    if (proxy.isBlackhole) return
    if (left === undefined || chunk.length < left) {
      pass(client, upstream, chunk, 0)
      if (left !== undefined) left -= chunk.length
      return
    }
    client.write(chunk.subarray(0, left), () => client.resetAndDestroy())
    upstream.destroy()
  })
  upstream.on('end', () => {
    if (!proxy.isBlackhole) client.end()
  })
}

/** Writes now or later, and holds the source back while the sink is full. */
function pass(sink: Socket, source: Socket, chunk: Buffer, delayMs: number): void {
  later(delayMs, () => {
    if (sink.destroyed || sink.write(chunk)) return
    source.pause()
    sink.once('drain', () => source.resume())
  })
}

function later(delayMs: number, action: () => void): void {
  if (delayMs > 0) setTimeout(action, delayMs)
  else action()
}
