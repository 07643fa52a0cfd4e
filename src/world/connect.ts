// Connections for requests: to the service or to any host, directly or through a proxy.

import { Agent, Client, buildConnector } from 'undici'
import type { SecureContext } from 'node:tls'
import type { Connections, Request, Response } from './connections.ts'
import { withoutContinue } from './interim-answers.ts'
import { Lanes } from './lanes.ts'
import { Pooled } from './pooled.ts'
import type { Proxy, ProxyOf } from './proxy.ts'
import { ProxyError, openTunnel } from './tunnel.ts'

export interface ConnectionsOptions {
  /** Most connections at once, per host. */
  readonly connectionsPerHost: number
  /** Called with each error in connecting. A request that failed so has certainly not reached the service. */
  readonly onConnectError: (error: Error) => void
  readonly proxyOf: ProxyOf
  /** Trusted certificates; undefined: Node's own. */
  readonly trust: SecureContext | undefined
}

export const connectTimeoutMs = 10_000
export const keepAliveMs = 30_000

/** Returns connections to the service, reused for calls that follow one another. */
export function connectionsTo(origin: string, options: ConnectionsOptions): Connections {
  // Not `Lanes`, whose `together` sends a second request before the first is answered: an HTTP proxy may not support that.
  if (isPlainThroughProxy(origin, options)) return connectionsToAny(options)
  // Shared by all lanes, because it caches the TLS sessions.
  const connect = connector(options)
  return new Lanes(
    options.connectionsPerHost,
    () => new Client(origin, { pipelining: 1, keepAliveTimeout: keepAliveMs, connect }),
  )
}

/** Returns connections to any host. */
export function connectionsToAny(options: ConnectionsOptions): Connections {
  const pooling = { connections: options.connectionsPerHost, pipelining: 1, keepAliveTimeout: keepAliveMs }
  const pool = new Pooled(() => new Agent({ ...pooling, connect: connector(options) }))
  const wholeUrl = (request: Request): Request => asProxyRequest(request, options)
  return {
    request: async (request) => answerOfProxy(pool.request(wholeUrl(request)), request, options),
    together(first, second) {
      const answers = pool.together(wholeUrl(first), wholeUrl(second))
      return {
        first: answerOfProxy(answers.first, first, options),
        second: answerOfProxy(answers.second, second, options),
      }
    },
    renew: () => pool.renew(),
    destroy: () => pool.destroy(),
  }
}

/** True for plain HTTP through a proxy, which receives the requests itself. HTTPS goes through a tunnel instead. */
function isPlainThroughProxy(origin: string, { proxyOf }: ConnectionsOptions): boolean {
  return isPlain(origin) && proxyOf(origin) !== undefined
}

/** Returns a plain HTTP request for its proxy, with the whole URL as its target (RFC 9112, 3.2.2); any other unchanged. */
function asProxyRequest(request: Request, { proxyOf }: ConnectionsOptions): Request {
  const origin = String(request.origin)
  const proxy = isPlain(origin) ? proxyOf(origin) : undefined
  if (proxy === undefined) return request
  const { authorization } = proxy
  return {
    ...request,
    origin: proxy.origin,
    path: origin + request.path,
    headers: {
      ...(request.headers as Record<string, string>),
      host: new URL(origin).host,
      ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
    },
  }
}

/** Throws ProxyError for a 407, which is the proxy's: the request has not reached the service. */
async function answerOfProxy(
  answer: Promise<Response>,
  { origin }: Request,
  { proxyOf, onConnectError }: ConnectionsOptions,
): Promise<Response> {
  const response = await answer
  const proxy = isPlain(origin) ? proxyOf(String(origin)) : undefined
  if (response.statusCode !== 407 || proxy === undefined) return response
  response.body.on('error', () => {}).destroy()
  const error = new ProxyError(proxy, 407)
  onConnectError(error)
  throw error
}

function isPlain(origin: Request['origin']): boolean {
  return String(origin).startsWith('http:')
}

function connector({ onConnectError, proxyOf, trust }: ConnectionsOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    ...(trust === undefined ? {} : { secureContext: trust }),
  })
  return (target, done) => {
    const report: buildConnector.Callback = (...outcome) => {
      const [error, socket] = outcome
      // undici cannot take the `100 Continue` that some servers send unasked.
      if (error === null) return done(null, withoutContinue(socket))
      onConnectError(error)
      done(...outcome)
    }
    const proxy = proxyFor(target, proxyOf)
    if (proxy === undefined) {
      connect(target, report)
      return
    }
    openTunnel(proxy, target, { connect, limitMs: connectTimeoutMs }).then(
      (socket) => connect({ ...target, httpSocket: socket }, report),
      (error: Error) => report(error, null),
    )
  }
}

/** Returns the proxy whose tunnel leads to `target`; undefined for plain HTTP, and if `target` is the proxy (see `asProxyRequest`). */
function proxyFor({ protocol, host }: buildConnector.Options, proxyOf: ProxyOf): Proxy | undefined {
  if (protocol !== 'https:') return undefined
  const origin = `https://${host}`
  const proxy = proxyOf(origin)
  return proxy?.origin === origin ? undefined : proxy
}
