// Which connections a request takes: to one host, to any, directly or through a proxy.

import { Agent, Client, buildConnector } from 'undici'
import type { SecureContext } from 'node:tls'
import type { Connections, Request, Response } from './connections.ts'
import { withoutContinue } from './interim-answers.ts'
import { Lanes } from './lanes.ts'
import { Pooled } from './pooled.ts'
import type { Proxy, ProxyOf } from './proxy.ts'
import { ProxyError, openTunnel } from './tunnel.ts'

export interface ConnectionsOptions {
  /** At once, per host. */
  readonly most: number
  /** Told of what failed before there was a connection: only such a request certainly never reached the service. */
  readonly onConnectError: (error: Error) => void
  readonly proxyOf: ProxyOf
  /** Undefined: Node's own. */
  readonly trust: SecureContext | undefined
}

const connectTimeoutMs = 10_000
const keepAliveMs = 30_000

/** To one host, for calls that follow one another. */
export function connectionsTo(origin: string, options: ConnectionsOptions): Connections {
  // A proxy may have one request on a connection and no more.
  if (isAskedOfProxy(origin, options)) return connectionsToAny(options)
  // One for all: it keeps the TLS sessions.
  const connect = connector(options)
  return new Lanes(
    options.most,
    () => new Client(origin, { pipelining: 1, keepAliveTimeout: keepAliveMs, connect }),
  )
}

/** To any host. */
export function connectionsToAny(options: ConnectionsOptions): Connections {
  const pooling = { connections: options.most, pipelining: 1, keepAliveTimeout: keepAliveMs }
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

/** TLS goes through a tunnel; anything else the proxy is asked for itself. */
function isAskedOfProxy(origin: string, { proxyOf }: ConnectionsOptions): boolean {
  return origin.startsWith('http:') && proxyOf(origin) !== undefined
}

/** With the whole URL as its target (RFC 9112, 3.2.2), which is how a proxy knows where to. */
function asProxyRequest(request: Request, { proxyOf }: ConnectionsOptions): Request {
  const origin = String(request.origin)
  const proxy = origin.startsWith('http:') ? proxyOf(origin) : undefined
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

/** 407 is never the service's: the request has not reached it. */
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
    const tell: buildConnector.Callback = (...outcome) => {
      const [error, socket] = outcome
      if (error === null) return done(null, withoutContinue(socket))
      onConnectError(error)
      done(...outcome)
    }
    const proxy = proxyFor(target, proxyOf)
    if (proxy === undefined) {
      connect(target, tell)
      return
    }
    openTunnel(proxy, target, { connect, limitMs: connectTimeoutMs }).then(
      (socket) => connect({ ...target, httpSocket: socket }, tell),
      (error: Error) => tell(error, null),
    )
  }
}

/** To the proxy itself there is no proxy. */
function proxyFor({ protocol, host }: buildConnector.Options, proxyOf: ProxyOf): Proxy | undefined {
  if (protocol !== 'https:') return undefined
  const origin = `https://${host}`
  const proxy = proxyOf(origin)
  return proxy?.origin === origin ? undefined : proxy
}
