// A connection for downloads: GET over HTTP/1.1, without a proxy. Content is received into the memory that it is kept in, which
// no general client does (docs/decisions/libraries.md). A body with a length arrives in the memory of whole blocks; bodies of other
// kinds are copied, since only errors and odd servers send them.

import { buildConnector, errors } from 'undici'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { AnswerHeadError, headIn, type AnswerHead } from './answer-head.ts'
import { receiverOf, type BodyReceiver } from './body-receiver.ts'
import type { Lane } from './lane-pool.ts'
import { ReceivedBody } from './received-body.ts'

export interface DownloadRequest {
  /** Path and query, encoded. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Returns the error to be thrown for one of the connection. */
  readonly explain: (error: unknown) => unknown
}

/** A response. The connection is taken until its body has been received, or `discard` is called. */
export interface DownloadResponse {
  readonly head: AnswerHead
  /** The body. */
  readonly chunks: ReceivedBody
  /** Closes the connection, unless the body has been received. */
  readonly discard: () => void
}

export interface LaneOptions {
  readonly connectTimeoutMs: number
  /** Longest time that an idle connection is kept (ms). */
  readonly keptMs: number
  readonly onConnectError: (error: Error) => void
  /** Trusted certificates; undefined: Node's own. */
  readonly trust: SecureContext | undefined
  /** TLS sessions by origin, to be resumed. */
  readonly sessions: Map<string, Buffer>
}

/** An exchange under way. */
interface Exchange {
  readonly request: DownloadRequest
  readonly answered: (response: DownloadResponse) => void
  readonly failed: (error: unknown) => void
  /** Called once, when the lane may carry another. */
  readonly onFree: () => void
  /** Set once the head is here. */
  body: { readonly chunks: ReceivedBody; readonly receiver: BodyReceiver } | undefined
}

/** Longest head of a response (bytes). */
const headBytes = 32 * 1024
/** A server ends an idle connection when it says; ours ends this much earlier (ms). */
const marginMs = 1_000

export class DownloadLane implements Lane {
  readonly #origin: URL
  readonly #options: LaneOptions
  #socket: Socket | undefined
  #exchange: Exchange | undefined
  #isClosed = false
  #whenOver: (() => void) | undefined
  #idleTimer: NodeJS.Timeout | undefined
  /** How long the connection may be idle before another exchange (ms); 0: it carries no other. */
  #keptMs = 0

  /** Memory for heads, and for bodies that are copied. */
  readonly #scratch = Buffer.allocUnsafeSlow(headBytes)
  /** Bytes of a head in it. */
  #headBytes = 0

  constructor(origin: string, options: LaneOptions) {
    this.#origin = new URL(origin)
    this.#options = options
  }

  /**
   * Resolves with the response. Rejects with what `explain` returns for the signal's reason, an error of the connection, one of
   * undici, or AnswerHeadError.
   */
  get(request: DownloadRequest, onFree: () => void): Promise<DownloadResponse> {
    return new Promise((answered, failed) => {
      clearTimeout(this.#idleTimer)
      this.#exchange = { request, answered, failed, onFree, body: undefined }
      request.signal.addEventListener('abort', this.#onAbort)
      if (request.signal.aborted) this.#onAbort()
      else if (this.#socket === undefined) this.#connect()
      else this.#send(this.#socket)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#exchange !== undefined) await new Promise<void>((resolve) => void (this.#whenOver = resolve))
    this.#socket?.destroy()
  }

  destroy(): Promise<void> {
    this.#isClosed = true
    this.#fail(new errors.ClientDestroyedError())
    this.#socket?.destroy()
    return Promise.resolve()
  }

  readonly #onAbort = (): void => this.#fail(this.#exchange?.request.signal.reason)

  #connect(): void {
    const { connectTimeoutMs, onConnectError, trust, sessions } = this.#options
    const { protocol, hostname, host, port, origin } = this.#origin
    const session = sessions.get(origin)
    const connect = buildConnector({
      timeout: connectTimeoutMs,
      ...(trust === undefined ? {} : { secureContext: trust }),
      ...(session === undefined ? {} : { session }),
      onread: { buffer: () => this.#space(), callback: (bytes) => this.#received(bytes) },
    })
    const forExchange = this.#exchange
    connect({ protocol, hostname: hostname.replaceAll(/[[\]]/g, ''), host, port }, (error, socket) => {
      if (error !== null) {
        onConnectError(error)
        if (this.#exchange === forExchange) this.#fail(error)
        return
      }
      socket.on('error', (failure) => this.#ended(socket, failure))
      socket.on('end', () => this.#ended(socket))
      socket.on('close', () => this.#ended(socket))
      socket.on('session', (fresh: Buffer) => sessions.set(origin, fresh))
      if (this.#exchange !== forExchange || forExchange === undefined) return void socket.destroy()
      this.#socket = socket
      this.#send(socket)
    })
  }

  #send(socket: Socket): void {
    const { target = '/', headers = {} } = this.#exchange?.request ?? {}
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const parts = [`GET ${target} HTTP/1.1`, `host: ${this.#origin.host}`, 'connection: keep-alive', ...lines]
    if (parts.some((part) => /[\r\n\0]/.test(part)))
      return this.#fail(new errors.InvalidArgumentError('a header has a line break'))
    this.#headBytes = 0
    this.#keptMs = 0
    socket.write(`${parts.join('\r\n')}\r\n\r\n`, 'latin1')
  }

  /** Memory for the next bytes to come; never empty. */
  #space(): Uint8Array {
    const receiver = this.#exchange?.body?.receiver
    return receiver?.space() ?? this.#scratch.subarray(this.#headBytes % headBytes)
  }

  /** Takes `bytes` that were received into `#space()`. False: no more for now. */
  #received(bytes: number): boolean {
    const exchange = this.#exchange
    try {
      if (exchange === undefined) throw new AnswerHeadError('it was not asked for')
      return exchange.body === undefined
        ? this.#receivedHead(exchange, bytes)
        : this.#receivedBody(exchange.body, bytes)
    } catch (error) {
      this.#fail(error)
      return false
    }
  }

  #receivedHead(exchange: Exchange, bytes: number): boolean {
    this.#headBytes += bytes
    let received = this.#scratch.subarray(0, this.#headBytes)
    let found = headIn(received)
    // Interim responses, which some servers send unasked.
    while (found !== undefined && found.head.status < 200) {
      if (found.head.status === 101) throw new AnswerHeadError('it switches protocols')
      received = received.subarray(found.bytes)
      found = headIn(received)
    }
    if (found === undefined) {
      if (received.length === headBytes) throw new AnswerHeadError('its head is too long')
      this.#scratch.set(received)
      this.#headBytes = received.length
      return true
    }
    const { head } = found
    this.#keptMs = Math.min(head.keptMs ?? Infinity, this.#options.keptMs)
    const discard = (): void => {
      if (this.#exchange === exchange) this.#fail(new errors.RequestAbortedError())
    }
    const chunks = new ReceivedBody({ onRoom: () => this.#socket?.resume(), onLeave: discard })
    const receiver = receiverOf(head.bodyLength, this.#scratch)
    exchange.body = { chunks, receiver }
    exchange.answered({ head, chunks, discard })
    if (receiver.isWhole) this.#finish()
    return this.#passOn(exchange.body, received.subarray(found.bytes))
  }

  /** Takes the beginning of a body, which came with its head. */
  #passOn(body: NonNullable<Exchange['body']>, rest: Uint8Array): boolean {
    let isWelcome = true
    for (let at = 0; at < rest.length;) {
      if (body.receiver.isWhole) throw new AnswerHeadError('more comes than its length')
      const space = body.receiver.space()
      const part = rest.subarray(at, at + space.length)
      space.set(part)
      at += part.length
      isWelcome = this.#receivedBody(body, part.length)
    }
    return isWelcome
  }

  #receivedBody({ chunks, receiver }: NonNullable<Exchange['body']>, bytes: number): boolean {
    let isWelcome = true
    for (const piece of receiver.content(bytes)) isWelcome = chunks.push(piece)
    if (receiver.isWhole) this.#finish()
    return isWelcome || receiver.isWhole
  }

  /** The exchange went well, and is over. */
  #finish(): void {
    this.#exchange?.body?.chunks.end()
    if (this.#keptMs <= marginMs || this.#isClosed) this.#leave()
    else {
      this.#idleTimer = setTimeout(() => this.#leave(), this.#keptMs - marginMs)
      this.#idleTimer.unref()
    }
    this.#over()
  }

  #fail(error: unknown): void {
    this.#leave()
    const exchange = this.#exchange
    if (exchange === undefined) return
    const explained = exchange.request.explain(error)
    if (exchange.body === undefined) exchange.failed(explained)
    else exchange.body.chunks.end({ error: explained })
    this.#over()
  }

  /** The connection has ended. */
  #ended(socket: Socket, failure?: Error): void {
    if (socket !== this.#socket) return
    this.#keptMs = 0
    if (failure === undefined && this.#exchange?.body?.receiver.endsWithConnection === true) this.#finish()
    else this.#fail(failure ?? new errors.SocketError('other side closed'))
  }

  /** Takes another connection for the next exchange. */
  #leave(): void {
    clearTimeout(this.#idleTimer)
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #over(): void {
    const exchange = this.#exchange
    if (exchange === undefined) return
    this.#exchange = undefined
    this.#headBytes = 0
    exchange.request.signal.removeEventListener('abort', this.#onAbort)
    this.#whenOver?.()
    exchange.onFree()
  }
}
