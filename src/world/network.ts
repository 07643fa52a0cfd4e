// The network: one set of connections for calls to the service, another for downloads (see transport.ts). By undici, but for
// downloads without a proxy, which receive into the memory of their blocks (download-lane.ts).

import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { NetworkError } from './network-error.ts'
import type { NetworkErrorKind } from './network-error.ts'
import type { Answer, Transport, TransportRequest } from './transport.ts'
import { connectTimeoutMs, connectionsTo, connectionsToAny, keepAliveMs } from './connect.ts'
import type { Connections, Request, Response } from './connections.ts'
import { DirectDownloads } from './direct-downloads.ts'
import { proxiesOf } from './proxy.ts'
import { trustWith } from './trust.ts'

/** Settings for connections to other machines. */
export interface NetworkSettings {
  /** `http://USER:PASSWORD@HOST:PORT`, `HOST:PORT`, or `none`. Default: what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say. */
  readonly proxy?: string | undefined
  /** Certificates (PEM) of authorities that are trusted besides the usual ones. */
  readonly caFile?: string | undefined
}

export interface Network {
  /**
   * Returns a transport, which connects at its first request. `connections`: most per host, for calls and downloads each. Throws
   * SettingError for bad settings.
   */
  open(connections: number, settings?: NetworkSettings): Transport
  /** Returns a text that changes with this machine's routes and name servers: `Reach` then probes at once. Cheap: once a second. */
  state(): string
}

export const systemNetwork: Network = { open: createTransport, state: networkState }

function createTransport(connectionsPerHost: number, { proxy, caFile }: NetworkSettings = {}): Transport {
  /** Errors in connecting: a request that failed so was never sent. */
  const connectErrors = new WeakSet<object>()
  const options = {
    connectionsPerHost,
    onConnectError: (error: Error) => void connectErrors.add(error),
    proxyOf: proxiesOf(proxy),
    trust: trustWith(caFile),
  }
  const directDownloads = new DirectDownloads(connectionsPerHost, {
    ...options,
    connectTimeoutMs,
    keptMs: keepAliveMs,
  })
  const proxiedDownloads = connectionsToAny(options)
  /** Connections for calls, by origin; a client has one service, so one entry. */
  const calls = new Map<string, Connections>()

  const callsTo = ({ origin }: TransportRequest): Connections => {
    const known = calls.get(origin) ?? connectionsTo(origin, options)
    calls.set(origin, known)
    return known
  }

  const everything = (): readonly Pick<Connections, 'renew' | 'destroy'>[] => [
    ...calls.values(),
    directDownloads,
    proxiedDownloads,
  ]

  const answered = async (request: TransportRequest, response: Promise<Response>): Promise<Answer> => {
    const fail = (error: unknown): unknown => networkErrorOf(request, error, connectErrors)
    try {
      return answerOf(await response, fail)
    } catch (error) {
      throw fail(error)
    }
  }

  return {
    callService: (request) => answered(request, callsTo(request).request(requestOf(request))),
    together(one, other) {
      const { first, second } = callsTo(one).together(requestOf(one), requestOf(other))
      return { first: answered(one, first), second: answered(other, second) }
    },
    async download(request) {
      if (options.proxyOf(request.origin) !== undefined)
        return answered(request, proxiedDownloads.request(requestOf(request)))
      const explain = (error: unknown): unknown => networkErrorOf(request, error, connectErrors)
      const { head, ...rest } = await directDownloads.get({ ...request, explain })
      return { ...rest, status: head.status, header: (name) => head.headers.get(name)?.[0] }
    },
    renew() {
      for (const connections of everything()) connections.renew()
    },
    async close() {
      await Promise.all(everything().map((connections) => connections.destroy()))
    },
  }
}

function requestOf(request: TransportRequest): Request {
  return {
    origin: request.origin,
    path: request.target,
    method: request.method,
    headers: request.headers,
    // undici's types allow only Readable, but its request() takes any async iterable.
    body: (request.body ?? null) as string | Readable | null,
    signal: request.signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  }
}

function answerOf(response: Response, fail: (error: unknown) => unknown): Answer {
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
      // Destroying an unfinished body emits an error, which must not be uncaught.
      body.on('error', () => {})
      body.destroy()
    },
  }
}

function networkErrorOf(
  { call, origin }: Pick<TransportRequest, 'call' | 'origin'>,
  error: unknown,
  connectErrors: WeakSet<object>,
): unknown {
  if (!(error instanceof Error)) return error
  // `code` of a DOMException is a number.
  const { code } = error as { code?: unknown }
  const kind = connectErrors.has(error)
    ? 'unreachable'
    : kindOfCode(typeof code === 'string' ? code : '', error)
  if (kind === undefined) return error
  return new NetworkError(call, kind, `${prefixOf[kind]}: ${reasonOf(error, origin)}`, { cause: error })
}

const prefixOf: Record<NetworkErrorKind, string> = {
  unreachable: 'no connection',
  away: 'the service is out of reach',
  cut: 'the connection broke',
  deadline: 'no answer in time',
  protocol: 'the answer is not HTTP',
}

/** Returns the kind for an error code of undici or the system; undefined for other errors. */
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

/** OpenSSL's codes for certificates of an unknown authority. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Returns the error's message; those of all addresses if several were tried, since Node's own is empty then. */
function reasonOf(error: Error, origin: string): string {
  const { code = '' } = error as NodeJS.ErrnoException
  // OpenSSL's own message is a line of hexadecimal numbers.
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'what listens there speaks no TLS; is http:// meant?'
  if (untrusted.has(code))
    return (
      `the certificate of ${new URL(origin).hostname} is not trusted (${error.message}): if its authority is your own, ` +
      `docmount login --ca-file FILE remembers it`
    )
  const reasons = error instanceof AggregateError ? error.errors.map(String) : [error.message]
  return reasons.join(', ').replaceAll('Error: ', '').replaceAll(/\s+/g, ' ').trim()
}

const networkFiles = ['/proc/net/route', '/proc/net/ipv6_route', '/etc/resolv.conf']

/** Returns the content of the files; empty lines on a system without them. */
function networkState(): string {
  return networkFiles.map(textOf).join('\n')
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // No such file: changes are not noticed, and the service is probed at the usual intervals only.
    return ''
  }
}
