// The only user of undici: sends one request, gives back one answer, names what went wrong. Follows no redirect,
// repeats nothing, sets no time limit of its own but the one for connecting: time belongs to `deadline.ts`.
// Two pools: the one for downloads is never given the key, since a presigned URL may be on any host.

import type { Readable } from 'node:stream'
import { Agent, EnvHttpProxyAgent, buildConnector } from 'undici'
import type { Dispatcher } from 'undici'
import { NetworkError } from './errors.ts'
import type { CallDescription, NetworkErrorKind } from './errors.ts'

export interface TransportRequest {
  readonly call: CallDescription
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Scheme, host and port. */
  readonly origin: string
  /** Path and query, encoded. */
  readonly target: string
  readonly headers: Record<string, string>
  readonly body?: string | AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  /** One value of a header, by its lower-case name. */
  header(name: string): string | undefined
  /** The body. Iterate to its end or call `discard`, or the connection stays taken. Throws NetworkError. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Gives the body up, closing the connection. */
  discard(): void
}

/** What the answer says of its body's length, if it does. */
export function bodyLengthOf(answer: Answer): number | undefined {
  const length = answer.header('content-length')
  return length === undefined ? undefined : Number(length)
}

export interface Transport {
  /** To the service; headers may carry the key. Throws NetworkError, or what the body's source threw. */
  api(request: TransportRequest): Promise<Answer>
  /** To a presigned URL. Throws NetworkError. */
  download(request: TransportRequest): Promise<Answer>
  /** Requests from now on use new connections; those under way finish on theirs. */
  renew(): void
  /** Closes every connection; calls under way fail as `cut`. */
  close(): Promise<void>
}

const connectTimeoutMs = 10_000
const keepAliveMs = 30_000

/** Opens no connection yet. `connections` bounds each of the two pools per host. */
export function createTransport(connections: number): Transport {
  const connectErrors = new WeakSet<object>()
  const makePools = (): Record<'api' | 'download', Dispatcher> => ({
    api: createPool(connections, connectErrors),
    download: createPool(connections, connectErrors),
  })
  let pools = makePools()
  const retired = new Set<Dispatcher>()

  const send = async (pool: Dispatcher, request: TransportRequest): Promise<Answer> => {
    const fail = (error: unknown): unknown => networkErrorOf(request.call, error, connectErrors)
    try {
      const response = await pool.request({
        origin: request.origin,
        path: request.target,
        method: request.method,
        headers: request.headers,
        // undici types only Readable; its request() takes any async iterable.
        body: (request.body ?? null) as string | Readable | null,
        signal: request.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      })
      return answerOf(response, fail)
    } catch (error) {
      throw fail(error)
    }
  }

  return {
    api: (request) => send(pools.api, request),
    download: (request) => send(pools.download, request),
    renew() {
      const old = Object.values(pools)
      pools = makePools()
      for (const pool of old) {
        retired.add(pool)
        // Waits for the requests under way; what becomes of them is told to who made them.
        void pool
          .close()
          .catch(() => {})
          .finally(() => retired.delete(pool))
      }
    },
    async close() {
      await Promise.all([...Object.values(pools), ...retired].map((pool) => pool.destroy()))
    },
  }
}

function createPool(connections: number, connectErrors: WeakSet<object>): Dispatcher {
  const options = { connections, pipelining: 1, keepAliveTimeout: keepAliveMs }
  if (isProxyConfigured()) return new EnvHttpProxyAgent(options)
  const connect = buildConnector({ timeout: connectTimeoutMs })
  return new Agent({
    ...options,
    // Marks what failed before there was a connection: only such a request certainly never reached the service.
    connect: (target, done) => {
      connect(target, (...outcome) => {
        if (outcome[0] !== null) connectErrors.add(outcome[0])
        done(...outcome)
      })
    },
  })
}

function isProxyConfigured(): boolean {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
  return names.some((name) => (process.env[name] ?? '') !== '')
}

function answerOf(response: Dispatcher.ResponseData, fail: (error: unknown) => unknown): Answer {
  const { body, headers, statusCode } = response
  return {
    status: statusCode,
    header(name) {
      const value = headers[name]
      return Array.isArray(value) ? value[0] : value
    },
    chunks: {
      async *[Symbol.asyncIterator]() {
        try {
          yield* body as AsyncIterable<Uint8Array>
        } catch (error) {
          throw fail(error)
        }
      },
    },
    discard() {
      // Destroying an unfinished body makes it emit an error that nobody waits for any more.
      body.on('error', () => {})
      body.destroy()
    },
  }
}

function networkErrorOf(call: CallDescription, error: unknown, connectErrors: WeakSet<object>): unknown {
  if (!(error instanceof Error)) return error
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const kind = connectErrors.has(error) ? 'unreachable' : kindOfCode(code, error)
  if (kind === undefined) return error
  return new NetworkError(call, kind, `${prefixOf[kind]}: ${reasonOf(error)}`, { cause: error })
}

const prefixOf: Record<NetworkErrorKind, string> = {
  unreachable: 'no connection',
  away: 'the service is out of reach',
  cut: 'the connection broke',
  deadline: 'no answer in time',
  protocol: 'the answer is not HTTP',
}

/** undici's and the system's codes; undefined for an error that is not the network's. */
function kindOfCode(code: string, error: Error): NetworkErrorKind | undefined {
  const { syscall } = error as NodeJS.ErrnoException
  const isConnecting = syscall === 'connect' || syscall === 'getaddrinfo'
  if (isConnecting || code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'unreachable'
  if (code.startsWith('HPE_') || error.name === 'HTTPParserError') return 'protocol'
  if (code.startsWith('UND_ERR_') && code !== 'UND_ERR_INVALID_ARG') return 'cut'
  const isSocketError = syscall === 'read' || syscall === 'write'
  return isSocketError && ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENETUNREACH', 'EHOSTUNREACH'].includes(code)
    ? 'cut'
    : undefined
}

/** Several addresses tried are several reasons; Node leaves the outer message empty then. */
function reasonOf(error: Error): string {
  const reasons = error instanceof AggregateError ? error.errors.map(String) : [error.message]
  return reasons.join(', ').replaceAll('Error: ', '')
}
