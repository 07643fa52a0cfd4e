// The WebDAV door: HTTP requests become calls of `Operations`, errors become statuses. The door decides nothing.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Notifier, Operations } from '../fs/operations.ts'
import type { Log } from '../log.ts'
import { createClock, type Clock } from '../world/clock.ts'
import { Access } from './access.ts'
import { PendingPuts } from './pending-puts.ts'
import { DeadProperties } from './dead-properties.ts'
import { Exchange, type Door } from './exchange.ts'
import { LockMade } from './lock-made.ts'
import { Locks } from './locks.ts'
import { methods } from './methods.ts'
import { allowed, changing } from './methods/options.ts'
import { usualLimits, type ClientLimits } from './client-limits.ts'
import { usualTimeouts, type ClientTimeouts } from './client-timeouts.ts'
import { Connections } from './connections.ts'
import { Refused } from './refused.ts'
import { statusOf } from './status-of.ts'
import { invalidating } from './invalidating.ts'
import { PathWalk } from './path-walk.ts'
import { errorBody } from './xml-write.ts'

export interface WebdavOptions {
  /** An address, or a name of one. */
  readonly host: string
  /** 0 = any that is free. */
  readonly port: number
  /** In PEM. */
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly user: string
  readonly password: string
  /** Names besides its address under which the door is reached. */
  readonly hostNames: readonly string[]
  /** Keeps the properties that clients set. */
  readonly propertiesFile: string
  readonly isReadOnly: boolean
  /** Content type of a document, by its name. */
  readonly contentTypeOf: (name: string) => string | undefined
  /** To the same drive: it has heard of each change before the client has its answer. */
  readonly otherDoor?: Notifier
  /** Default: `usualTimeouts`. */
  readonly timeouts?: Partial<ClientTimeouts>
  /** Default: `usualLimits`. */
  readonly limits?: Partial<ClientLimits>
  /** Of locks, and of what is begun and not filled. Default: this machine's. */
  readonly clock?: Clock
  readonly log: Log
}

export interface WebdavServer {
  /** Without a slash at the end. */
  readonly url: string
  /** Closes documents that were begun and not filled: whoever waits for everything to be sent does not wait for them. */
  finishPendingPuts(): Promise<void>
  /** Takes no more requests and lets those under way end, for at most `waitMs`. */
  close(options: { waitMs: number }): Promise<void>
}

/** Resolves when it listens. Throws what listening throws (EADDRINUSE, EACCES). */
export async function startWebdav(drive: Operations, options: WebdavOptions): Promise<WebdavServer> {
  const { log, tls, host, port, otherDoor, clock = createClock() } = options
  const operations = otherDoor === undefined ? drive : invalidating(drive, otherDoor)
  const timeouts = { ...usualTimeouts, ...options.timeouts }
  const { connections: mostConnections, locks: mostLocks } = { ...usualLimits, ...options.limits }
  const properties = await DeadProperties.open(options.propertiesFile, log)
  const door: Door = {
    locks: new Locks(mostLocks, () => clock.steady()),
    lockMade: new LockMade(mostLocks),
    properties,
    pendingPuts: new PendingPuts(operations, log, clock),
    isReadOnly: options.isReadOnly,
    contentTypeOf: options.contentTypeOf,
    timeouts,
  }
  const access = new Access({ ...options, hasTls: tls !== undefined })
  const parts: Parts = { operations, otherDoor, door, access, log }
  /** By connection, the end of what came last on it: what comes together is carried out in its order (RFC 9112, 9.3.2). */
  const turns = new Map<Socket, Promise<void>>()
  const connections = new Connections(mostConnections)
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    const turn = answer(request, response, turns.get(socket), parts)
    turns.set(socket, turn)
    const end = connections.begin(socket)
    void turn.then(() => {
      end()
      if (turns.get(socket) === turn) turns.delete(socket)
    })
  }
  const limits = {
    headersTimeout: timeouts.headersMs,
    // Node looks this often, by itself every 30 s.
    connectionsCheckingInterval: timeouts.headersMs / 4,
    requestTimeout: 0,
    keepAliveTimeout: timeouts.idleMs,
    maxHeaderSize: 32_768,
    handshakeTimeout: timeouts.headersMs,
  }
  const server =
    tls === undefined ? createServer(limits, serve) : createTlsServer({ ...limits, ...tls }, serve)
  server.on('checkContinue', serve)
  server.on('connection', (socket: Socket) => connections.add(socket))
  // A method that is at work waits for its client with limits of its own.
  server.setTimeout(timeouts.idleMs, (socket: Socket) => {
    if (!turns.has(socket)) socket.destroy()
  })
  await listen(server, host, port).catch(async (error: unknown) => {
    await properties.close()
    throw error
  })
  server.on('error', (error) => log.warn({ error }, 'the WebDAV server failed'))
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `http${tls === undefined ? '' : 's'}://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    finishPendingPuts: () => door.pendingPuts.endBelow(() => true),
    async close({ waitMs }) {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      server.closeIdleConnections()
      const tooLong = setTimeout(() => server.closeAllConnections(), waitMs)
      await closed
      clearTimeout(tooLong)
      await door.pendingPuts.endBelow(() => true)
      await properties.close()
    },
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

interface Parts {
  readonly operations: Operations
  readonly otherDoor: Notifier | undefined
  readonly door: Door
  readonly access: Access
  readonly log: Log
}

/** When `before` is over. Never rejects. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  before: Promise<void> | undefined,
  { operations, otherDoor, door, access, log }: Parts,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  // The read or write that waits for a client fails when it hangs up.
  response.on('error', () => {})
  request.on('error', () => {})
  setHeaders(response)
  await before
  const walk = new PathWalk(operations, gone.signal)
  const isChanging = changing.includes(request.method ?? '')
  let say: () => void
  try {
    access.check(request)
    const method = methods.get(request.method ?? '')
    if (method === undefined) throw notAllowed(door)
    if (door.isReadOnly && isChanging) throw new Refused(403, 'the drive is read-only')
    const exchange = new Exchange({ request, response, door, walk, host: request.headers.host ?? '' })
    await method(exchange)
    say = () => exchange.say()
  } catch (error) {
    say = () => tell(request, response, error, log)
  } finally {
    walk.end()
  }
  // No change is behind its answer: whoever has that goes through the other door, or tells another program.
  if (isChanging) await otherDoor?.heard()
  say()
  linger(request, door.timeouts.lingerMs)
}

/** Whatever a document is, no browser runs it. */
function setHeaders(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('content-security-policy', "sandbox; default-src 'none'")
  response.setHeader('cache-control', 'no-cache')
}

function notAllowed({ isReadOnly }: Door): Refused {
  return new Refused(405, 'this method is not known here', { headers: { allow: allowed(isReadOnly) } })
}

function tell(request: IncomingMessage, response: ServerResponse, error: unknown, log: Log): void {
  const { status, sentence } = statusOf(error)
  const method = request.method ?? ''
  if (status >= 500) log.warn({ error, method, status }, 'a WebDAV request failed')
  // The client sees that it is not whole.
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { condition, href, headers = {} } = error instanceof Refused ? error.options : {}
  const isXml = condition !== undefined
  const body = status === 304 ? '' : isXml ? errorBody(condition, href) : `${sentence}\n`
  response.writeHead(status, {
    ...headers,
    ...(body === ''
      ? {}
      : {
          'content-type': isXml ? 'application/xml; charset=utf-8' : 'text/plain; charset=utf-8',
          'content-length': String(Buffer.byteLength(body)),
        }),
  })
  response.end(body)
}

/** Takes the rest of a body that was not read to its end, not for ever: many clients send it all before they listen. */
function linger(request: IncomingMessage, lingerMs: number): void {
  if (request.complete || request.destroyed) return
  request.resume()
  const timer = setTimeout(() => request.destroy(), lingerMs)
  request.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
}
