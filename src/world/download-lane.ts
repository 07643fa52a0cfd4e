// A connection for downloads: GET over HTTP/1.1, without a proxy. Content is received into the memory that it is kept in, which
// no general client does: through undici, receiving costs three times the processor (docs/performance.md). A body with a length
// arrives in pieces of whole blocks' memory; bodies of other kinds are copied, since only errors and odd servers send them.

import { buildConnector, errors } from 'undici'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { AnswerHeadError, headIn, type AnswerHead } from './answer-head.ts'
import { ChunkedBody } from './chunked-body.ts'
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
  body: ReceivedBody | undefined
}

/** Memory is taken in these pieces (bytes): those of a block, so that a block that is kept keeps no more alive. */
const pieceBytes = 128 * 1024
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

  /** Received bytes of a head, of chunks, or of what ends with the connection. */
  readonly #scratch = Buffer.allocUnsafeSlow(headBytes)
  #headBytes = 0
  /** Memory for the content of a body with a length. */
  #piece: Uint8Array = this.#scratch
  #filledBytes = 0
  /** Bytes of that body which are still to come; undefined for other bodies. */
  #leftBytes: number | undefined
  #chunks: ChunkedBody | undefined

  constructor(origin: string, options: LaneOptions) {
    this.#origin = new URL(origin)
    this.#options = options
  }

  /** Resolves with the response. Rejects with what `explain` returns for the signal's reason, an error of the connection, of undici, or AnswerHeadError. */
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

  /** Memory for the next bytes to come, which must not be empty. */
  #space(): Uint8Array {
    if (this.#exchange?.body === undefined) {
      const free = this.#scratch.subarray(this.#headBytes)
      return free.length > 0 ? free : this.#scratch
    }
    if (this.#leftBytes === undefined) return this.#scratch
    if (this.#filledBytes === this.#piece.length) this.#takeMemory(this.#leftBytes)
    return this.#piece.subarray(this.#filledBytes)
  }

  #takeMemory(leftBytes: number): void {
    this.#piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, leftBytes))
    this.#filledBytes = 0
  }

  /** Takes `bytes` that were received into `#space()`. False: no more for now. */
  #received(bytes: number): boolean {
    try {
      if (this.#exchange === undefined) throw new AnswerHeadError('it was not asked for')
      if (this.#exchange.body === undefined) return this.#receivedHead(this.#exchange, bytes)
      if (this.#leftBytes === undefined)
        return this.#receivedOdd(this.#exchange.body, this.#scratch.subarray(0, bytes))
      return this.#receivedContent(this.#exchange.body, bytes)
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
    const { bodyLength, keptMs = this.#options.keptMs } = head
    this.#keptMs = bodyLength === 'until-close' ? 0 : Math.min(keptMs, this.#options.keptMs)
    const body = new ReceivedBody({
      onRoom: () => this.#socket?.resume(),
      onLeave: () => discard(),
    })
    const discard = (): void => {
      if (this.#exchange === exchange) this.#fail(new errors.RequestAbortedError())
    }
    exchange.body = body
    this.#leftBytes = typeof bodyLength === 'number' ? bodyLength : undefined
    this.#chunks = bodyLength === 'chunked' ? new ChunkedBody() : undefined
    exchange.answered({ head, chunks: body, discard })
    const rest = received.subarray(found.bytes)
    if (this.#leftBytes === undefined) return this.#receivedOdd(body, rest)
    if (rest.length > this.#leftBytes) throw new AnswerHeadError('more comes than its length')
    this.#takeMemory(this.#leftBytes)
    if (this.#leftBytes === 0) {
      this.#finish()
      return true
    }
    let isWelcome = true
    for (let at = 0; at < rest.length;) {
      const space = this.#space()
      const part = rest.subarray(at, at + space.length)
      space.set(part)
      at += part.length
      isWelcome = this.#receivedContent(body, part.length)
    }
    return isWelcome
  }

  #receivedContent(body: ReceivedBody, bytes: number): boolean {
    const piece = this.#piece.subarray(this.#filledBytes, this.#filledBytes + bytes)
    this.#filledBytes += bytes
    this.#leftBytes = (this.#leftBytes ?? 0) - bytes
    const isWelcome = body.push(piece)
    if (this.#leftBytes > 0) return isWelcome
    this.#finish()
    return true
  }

  #receivedOdd(body: ReceivedBody, received: Uint8Array): boolean {
    const content = this.#chunks?.content(received) ?? [received]
    let isWelcome = true
    // Copied: the memory is used again.
    for (const piece of content) if (piece.length > 0) isWelcome = body.push(Uint8Array.from(piece))
    if (this.#chunks?.isWhole !== true) return isWelcome
    this.#finish()
    return true
  }

  /** The exchange went well, and is over. */
  #finish(): void {
    this.#exchange?.body?.end()
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
    else exchange.body.end({ error: explained })
    this.#over()
  }

  /** The connection has ended. */
  #ended(socket: Socket, failure?: Error): void {
    if (socket !== this.#socket) return
    const isWhole =
      this.#exchange?.body !== undefined && this.#leftBytes === undefined && this.#chunks === undefined
    if (failure === undefined && isWhole) this.#finish()
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
    this.#leftBytes = undefined
    this.#headBytes = 0
    exchange.request.signal.removeEventListener('abort', this.#onAbort)
    this.#whenOver?.()
    exchange.onFree()
  }
}
