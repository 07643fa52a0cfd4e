// Which proxy a request takes: the one that is set, else the one the environment names; for this machine never any.

import { SettingError } from './setting-error.ts'

export interface Proxy {
  readonly origin: string
  /** `HOST:PORT`, for people. */
  readonly name: string
  /** Of Proxy-Authorization. */
  readonly authorization: string | undefined
}

/** The proxy for requests to an origin; undefined: they go there directly. */
export type ProxyOf = (origin: string) => Proxy | undefined

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `set` is `http://USER:PASSWORD@HOST:PORT`, `HOST:PORT`, or `none`. The environment's are those of curl: the lower-case names first,
 * and https takes HTTP_PROXY where it has none of its own. Throws SettingError, without the address: it may hold a password.
 */
export function proxiesOf(set: string | undefined, env: Environment = process.env): ProxyOf {
  if (set === 'none') return () => undefined
  const own = set === undefined ? undefined : parseProxy('proxy', set)
  const plain = own ?? fromEnvironment(['http_proxy', 'HTTP_PROXY'], env)
  const secure = own ?? fromEnvironment(['https_proxy', 'HTTPS_PROXY'], env) ?? plain
  const isExcepted = exceptions([present(env, ['no_proxy', 'NO_PROXY'])?.value ?? '', here].join(','))
  return (origin) => {
    const url = new URL(origin)
    const proxy = url.protocol === 'https:' ? secure : plain
    return proxy === undefined || isExcepted(url) ? undefined : proxy
  }
}

/** To a proxy these names are its own machine: it would get there with our key, or not get to ours at all. */
const here = 'localhost,127.0.0.1,[::1]'

function fromEnvironment(names: readonly string[], env: Environment): Proxy | undefined {
  const found = present(env, names)
  return found === undefined ? undefined : parseProxy(found.name, found.value)
}

function present(
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

/** `example.org` is its hosts, too; `example.org:8443` one port of them; `*` everything. */
function exceptions(list: string): (url: URL) => boolean {
  const entries = list
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, host = entry, port] = /^(.+):(\d+)$/.exec(entry) ?? []
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
