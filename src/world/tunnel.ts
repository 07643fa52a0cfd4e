// Tunnels through a proxy (CONNECT), for TLS.

import { ExpectedError } from '../expected-error.ts'
import type { Socket } from 'node:net'
import { Client, type buildConnector } from 'undici'
import type { Proxy } from './proxy.ts'

/** A failure at the proxy: the request has reached no other machine. */
export class ProxyError extends ExpectedError {
  override readonly name = 'ProxyError'

  constructor({ name }: Proxy, why: number | Error) {
    super(`the proxy ${name} ${wordsFor(why)}`, typeof why === 'number' ? {} : { cause: why })
  }
}

/** Returns a socket to `hostname:port` through the proxy. Rejects with ProxyError. */
export async function openTunnel(
  proxy: Proxy,
  { host, hostname, port }: Pick<buildConnector.Options, 'host' | 'hostname' | 'port'>,
  { connect, limitMs }: { connect: buildConnector.connector; limitMs: number },
): Promise<Socket> {
  // A client of its own, because the tunnel takes over the connection.
  const client = new Client(proxy.origin, { connect, headersTimeout: limitMs })
  const address = /:\d+$/.test(host ?? '') ? host : `${hostname}:${port === '' ? 443 : port}`
  const { authorization } = proxy
  try {
    const { statusCode, socket } = await client.connect({
      path: String(address),
      headers: {
        host: String(address),
        ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
      },
    })
    if (statusCode === 200) return socket as Socket
    socket.on('error', () => {}).destroy()
    throw new ProxyError(proxy, statusCode)
  } catch (error) {
    throw error instanceof ProxyError ? error : new ProxyError(proxy, error as Error)
  } finally {
    void client.close().catch(() => {})
  }
}

function wordsFor(why: number | Error): string {
  if (why === 407) return 'wants a user and a password (407): http://USER:PASSWORD@HOST:PORT'
  if (typeof why === 'number') return `refuses (${why}): ask who runs it, or let NO_PROXY name the service`
  const { code, message } = why as NodeJS.ErrnoException
  if (code === 'UND_ERR_SOCKET') return 'closed the connection without an answer'
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return 'does not answer'
  return `cannot be reached: ${message}`
}
