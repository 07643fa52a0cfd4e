// Which connections a request takes: to one host, to any, or through the proxy that the environment names, which is for other machines.

import { Agent, Client, EnvHttpProxyAgent, buildConnector } from 'undici'
import type { Connections } from './connections.ts'
import { Lanes } from './lanes.ts'
import { Pooled } from './pooled.ts'

export interface ConnectionsOptions {
  /** At once, per host. */
  readonly most: number
  /** Told of what failed before there was a connection: only such a request certainly never reached the service. */
  readonly onConnectError: (error: Error) => void
}

const connectTimeoutMs = 10_000
const keepAliveMs = 30_000

/** To one host, for calls that follow one another. */
export function connectionsTo(origin: string, options: ConnectionsOptions): Connections {
  if (isProxyConfigured() && !isHere(origin)) return connectionsToAny(options)
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
  if (isProxyConfigured()) return new Pooled(() => new EnvHttpProxyAgent({ ...pooling, noProxy: noProxy() }))
  return new Pooled(() => new Agent({ ...pooling, connect: connector(options) }))
}

function connector({ onConnectError }: ConnectionsOptions): buildConnector.connector {
  const connect = buildConnector({ timeout: connectTimeoutMs })
  return (target, done) => {
    connect(target, (...outcome) => {
      if (outcome[0] !== null) onConnectError(outcome[0])
      done(...outcome)
    })
  }
}

/** To a proxy these names are its own machine: it would get there with our key, or not get to ours at all. */
const here = ['localhost', '127.0.0.1', '[::1]']

function isHere(origin: string): boolean {
  return here.includes(new URL(origin).hostname)
}

/** What the environment says, and this machine. */
function noProxy(): string {
  const said = process.env['no_proxy'] ?? process.env['NO_PROXY'] ?? ''
  return said === '*' ? said : [said, ...here].join(',')
}

function isProxyConfigured(): boolean {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
  return names.some((name) => (process.env[name] ?? '') !== '')
}
