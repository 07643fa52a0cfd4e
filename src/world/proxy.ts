// Choice of the proxy for a request: that of the settings, else that of the environment; none for this machine itself.

import { isIPv6 } from 'node:net'
import { SettingError } from './setting-error.ts'

export interface Proxy {
  readonly origin: string
  /** `HOST:PORT`, for messages. */
  readonly name: string
  /** Value of the Proxy-Authorization header. */
  readonly authorization: string | undefined
}

/** Returns the proxy for requests to an origin; undefined: no proxy. */
export type ProxyOf = (origin: string) => Proxy | undefined

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `setting` is `http://USER:PASSWORD@HOST:PORT`, `HOST:PORT`, or `none`. Without it, the environment decides, by curl's variables:
 * lower-case names first, and HTTP_PROXY also for https. Throws SettingError, without the address: it may contain a password.
 */
export function proxiesOf(setting: string | undefined, env: Environment = process.env): ProxyOf {
  if (setting === 'none') return () => undefined
  const configured = setting === undefined ? undefined : parseProxy('proxy', setting)
  const forHttp = configured ?? fromEnvironment(['http_proxy', 'HTTP_PROXY'], env)
  const forHttps = configured ?? fromEnvironment(['https_proxy', 'HTTPS_PROXY'], env) ?? forHttp
  const isExcepted = parseExceptions([firstSet(env, ['no_proxy', 'NO_PROXY'])?.value ?? '', local].join(','))
  return (origin) => {
    const url = new URL(origin)
    const proxy = url.protocol === 'https:' ? forHttps : forHttp
    return proxy === undefined || isExcepted(url) ? undefined : proxy
  }
}

/** Hosts never reached through a proxy: for the proxy these names mean its own machine, which would receive the key. */
const local = 'localhost,127.0.0.1,[::1]'

function fromEnvironment(names: readonly string[], env: Environment): Proxy | undefined {
  const found = firstSet(env, names)
  return found === undefined ? undefined : parseProxy(found.name, found.value)
}

function firstSet(
  env: Environment,
  names: readonly string[],
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = env[name]
    if (value !== undefined && value !== '') return { name, value }
  }
  return undefined
}

function parseProxy(name: string, text: string): Proxy {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new SettingError(`${name} is no address of an HTTP proxy: write http://HOST:PORT`)
  const { username, password, origin, hostname, protocol } = url
  const port = url.port === '' ? (protocol === 'https:' ? '443' : '80') : url.port
  const user = [username, password].map(decodeURIComponent).join(':')
  return {
    origin,
    name: `${hostname}:${port}`,
    authorization: username === '' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

/** Parses NO_PROXY: `example.org` includes its subdomains, `example.org:8443` is one port of them, `*` is every host. */
function parseExceptions(list: string): (url: URL) => boolean {
  const entries = list
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, host = entry, port] = isIPv6(entry)
        ? [entry, `[${entry}]`]
        : (/^(.+):(\d+)$/.exec(entry) ?? [])
      return { host: host.replace(/^\*?\./, '').toLowerCase(), port }
    })
  return ({ hostname, port, protocol }) => {
    const ownPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port
    return entries.some(
      (entry) =>
        entry.host === '*' ||
        ((entry.port === undefined || entry.port === ownPort) &&
          (hostname === entry.host || hostname.endsWith(`.${entry.host}`))),
    )
  }
}
