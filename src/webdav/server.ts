// The WebDAV server: HTTP requests become calls of `Operations`, and errors HTTP statuses.

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
import { EmptyDocuments } from './empty-documents.ts'
import { Locks } from './locks.ts'
import { methods } from './methods.ts'
import { allowed, changeMethods } from './methods/options.ts'
import { usualLimits, type ClientLimits } from './client-limits.ts'
import { usualTimeouts, type ClientTimeouts } from './client-timeouts.ts'
import { Connections } from './connections.ts'
import { Refused } from './refused.ts'
import { statusOf } from './status-of.ts'
import { invalidating } from './invalidating.ts'
import { PathWalk } from './path-walk.ts'
import { errorBody } from './xml-write.ts'

export interface WebdavOptions {
  /** Address or host name to listen at. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly user: string
  readonly password: string
  /** Host names of this door, besides its address. */
  readonly hostNames: readonly string[]
  /** File for the properties that clients set. */
  readonly propertiesFile: string
  readonly isReadOnly: boolean
  /** Content type of a document, by its name. */
  readonly contentTypeOf: (name: string) => string | undefined
  /** The kernel door of the same drive: it is notified of a change before the client is answered. */
  readonly otherDoor?: Notifier
  /** Default: `usualTimeouts`. */
  readonly timeouts?: Partial<ClientTimeouts>
  /** Default: `usualLimits`. */
  readonly limits?: Partial<ClientLimits>
  /** Clock for locks and pending PUTs. Default: this machine's. */
  readonly clock?: Clock
  readonly log: Log
}

export interface WebdavServer {
  /** Without a slash at the end. */
  readonly url: string
  /** Closes empty documents that wait for content (pending-puts.ts); call it before a wait until everything is sent. */
  finishPendingPuts(): Promise<void>
  /** Takes no more requests and lets those under way end, for at most `waitMs`. */
  close(options: { waitMs: number }): Promise<void>
}

/** Resolves when it listens. Rejects if it cannot (EADDRINUSE, EACCES). */
export async function startWebdav(drive: Operations, options: WebdavOptions): Promise<WebdavServer> {
  const { log, tls, host, port, otherDoor, clock = createClock() } = options
  const operations = otherDoor === undefined ? drive : invalidating(drive, otherDoor)
  const timeouts = { ...usualTimeouts, ...options.timeouts }
  const { connections: mostConnections, locks: mostLocks } = { ...usualLimits, ...options.limits }
  const properties = await DeadProperties.open(options.propertiesFile, log)
  const door: Door = {
    locks: new Locks(mostLocks, () => clock.steady()),
    emptyDocuments: new EmptyDocuments(mostLocks),
    properties,
    pendingPuts: new PendingPuts(operations, log, clock),
    isReadOnly: options.isReadOnly,
    contentTypeOf: options.contentTypeOf,
    timeouts,
  }
  const access = new Access({ ...options, hasTls: tls !== undefined })
  const parts: Parts = { operations, otherDoor, door, access, log }
  /** The end of the last request, by connection: pipelined requests are answered in order (RFC 9112, 9.3.2). */
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
    // Node's default is 30 s.
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
  // A request under way has its own timeouts.
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
    finishPendingPuts: () => door.pendingPuts.closeMatching(() => true),
    async close({ waitMs }) {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      server.closeIdleConnections()
      const tooLong = setTimeout(() => server.closeAllConnections(), waitMs)
      await closed
      clearTimeout(tooLong)
      await door.pendingPuts.closeMatching(() => true)
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

/** Handles a request after `before`. Never rejects. */
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
  // A disconnect also fails the pending read or write, which reports it.
  response.on('error', () => {})
  request.on('error', () => {})
  setHeaders(response)
  await before
  const walk = new PathWalk(operations, gone.signal)
  const isChanging = changeMethods.includes(request.method ?? '')
  let respond: () => void
  try {
    access.check(request)
    const method = methods.get(request.method ?? '')
    if (method === undefined) throw notAllowed(door)
    if (door.isReadOnly && isChanging) throw new Refused(403, 'the drive is read-only')
    const exchange = new Exchange({ request, response, door, walk, host: request.headers.host ?? '' })
    await method(exchange)
    respond = () => exchange.sendAnswer()
  } catch (error) {
    respond = () => sendError(request, response, error, log)
  } finally {
    walk.releaseNodes()
  }
  // The kernel must know of the change before the client has its answer, and may read it through the other door.
  if (isChanging) await otherDoor?.heard()
  respond()
  linger(request, door.timeouts.lingerMs)
}

/** Headers that keep a browser from running a document as a page or script. */
function setHeaders(response: ServerResponse): void {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('content-security-policy', "sandbox; default-src 'none'")
  response.setHeader('cache-control', 'no-cache')
}

function notAllowed({ isReadOnly }: Door): Refused {
  return new Refused(405, 'this method is not known here', { headers: { allow: allowed(isReadOnly) } })
}

function sendError(request: IncomingMessage, response: ServerResponse, error: unknown, log: Log): void {
  const { status, sentence } = statusOf(error)
  const method = request.method ?? ''
  if (status >= 500) log.warn({ error, method, status }, 'a WebDAV request failed')
  // A broken connection shows the client that the answer is incomplete.
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

/** Receives the rest of an unread body for a while: many clients read the answer only after they have sent it all. */
function linger(request: IncomingMessage, lingerMs: number): void {
  if (request.complete || request.destroyed) return
  request.resume()
  const timer = setTimeout(() => request.destroy(), lingerMs)
  request.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
}
