// A forward proxy, as in companies: tunnels (CONNECT) for https, absolute-form requests for http. It records all of them.

import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export interface ForwardProxy extends AsyncDisposable {
  readonly host: string
  /** `HOST:PORT` of each CONNECT. */
  readonly tunnels: readonly string[]
  /** `METHOD URL` of each absolute-form request. */
  readonly requests: readonly string[]
  /** Proxy-Authorization of each CONNECT and each request; undefined if it was missing. */
  readonly authorizations: readonly (string | undefined)[]
}

export interface ForwardProxyOptions {
  /** True: closes the connection of each CONNECT without a response. */
  readonly dropsTunnels?: boolean
  /** Status with which every CONNECT and request is refused. */
  readonly refusesWith?: number
  /** True: refuses a CONNECT to any port but 443, as many proxies do. */
  readonly tunnelsOnlyHttps?: boolean
}

/** Listens on a free port of 127.0.0.1. */
export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const { dropsTunnels = false, refusesWith, tunnelsOnlyHttps = false } = options
  const tunnels: string[] = []
  const requests: string[] = []
  const authorizations: (string | undefined)[] = []

  function tunnel(request: IncomingMessage, socket: Duplex): void {
    tunnels.push(request.url ?? '')
    authorizations.push(request.headers['proxy-authorization'])
    socket.on('error', () => {})
    const { hostname, port } = new URL(`http://${request.url}`)
    const status = refusesWith ?? (tunnelsOnlyHttps && port !== '443' ? 403 : undefined)
    if (dropsTunnels) socket.destroy()
    else if (status !== undefined) socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`)
    else {
      const upstream = connect(Number(port), hostname, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on('error', () => socket.destroy())
      socket.on('close', () => upstream.destroy())
    }
  }

  function forward(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = request
    requests.push(`${method} ${url}`)
    const { 'proxy-authorization': authorization, connection: _hop, ...others } = headers
    authorizations.push(authorization)
    // Only a request to a proxy names a whole URL (RFC 9112, 3.2.2).
    if (refusesWith !== undefined || !URL.canParse(url)) {
      response.writeHead(refusesWith ?? 400).end()
      return
    }
    const upstream = httpRequest(url, { method, headers: others }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    upstream.on('error', () => response.destroy())
    request.pipe(upstream)
  }

  const server = createServer(forward).on('connect', tunnel)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    requests,
    authorizations,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
