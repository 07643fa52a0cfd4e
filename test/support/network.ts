// A laptop's network between drive and service: a TCP port that forwards all bytes to the service, until the test makes the
// network fail in one of the ways below.

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/**
 * - `up`: all bytes are forwarded.
 * - `refused`: the port is closed; open connections are reset.
 * - `black-hole`: connections are accepted and stay open, but no byte is forwarded.
 * - `portal`: a captive portal answers every request with 200 and a page.
 * - `gateway`: a gateway answers every request with 503.
 */
export type NetworkState = 'up' | 'refused' | 'black-hole' | 'portal' | 'gateway'

export interface Network {
  /** The service's base URL through this network; ends with `/api`. */
  readonly baseUrl: string
  readonly state: NetworkState
  /** Number of chunks received from clients, in all states: one per request, more for a large body. */
  readonly requests: number
  set(state: NetworkState): Promise<void>
  /** From now on the open connections forward nothing, without being closed, as after a change of network; new ones work. */
  forgetConnections(): void
  close(): Promise<void>
}

const page = '<html><body>Welcome to the hotel. Please accept our terms.</body></html>'

/** `targetPort` returns the service's port on this machine; called for each connection. */
export async function startNetwork(targetPort: () => number): Promise<Network> {
  const sockets = new Set<Socket>()
  const dead = new WeakSet<Socket>()
  let state: NetworkState = 'up'
  let requests = 0
  let server: Server | undefined

  function accept(client: Socket): void {
    sockets.add(client)
    client.on('error', () => {})
    client.on('close', () => sockets.delete(client))
    client.on('data', () => requests++)
    if (state === 'portal') client.on('data', () => client.end(answer('200 OK', 'text/html', page)))
    else if (state === 'gateway')
      client.on('data', () => client.end(answer('503 Service Unavailable', 'text/html', page)))
    else if (state === 'up') forwardToService(client)
  }

  function forwardToService(client: Socket): void {
    const upstream = connect({ host: '127.0.0.1', port: targetPort(), noDelay: true })
    const isDead = (): boolean => dead.has(client) || state === 'black-hole'
    sockets.add(upstream)
    upstream.on('error', () => {})
    upstream.on('close', () => {
      sockets.delete(upstream)
      if (!isDead()) client.destroy()
    })
    client.on('close', () => {
      if (!isDead()) upstream.destroy()
    })
    forward(client, upstream, isDead)
    forward(upstream, client, isDead)
  }

  async function listen(port: number): Promise<void> {
    const listening = createServer({ noDelay: true }, accept)
    await new Promise<void>((resolve) => void listening.listen(port, '127.0.0.1', resolve))
    server = listening
  }

  async function stopListening(): Promise<void> {
    const listening = server
    server = undefined
    if (listening !== undefined) await new Promise<void>((resolve) => void listening.close(() => resolve()))
  }

  await listen(0)
  const { port } = (server as unknown as Server).address() as AddressInfo

  return {
    baseUrl: `http://127.0.0.1:${port}/api`,
    get state() {
      return state
    },
    get requests() {
      return requests
    },
    async set(next) {
      const isSilent = next === 'black-hole'
      state = next
      const stopping = next === 'refused' ? stopListening() : undefined
      // Connections of a black hole stay dead, because bytes of them are lost.
      if (isSilent) for (const socket of sockets) dead.add(socket)
      else for (const socket of sockets) if (!dead.has(socket)) socket.resetAndDestroy()
      await stopping
      if (next !== 'refused' && server === undefined) await listen(port)
    },
    forgetConnections() {
      for (const socket of sockets) dead.add(socket)
    },
    async close() {
      const stopping = stopListening()
      for (const socket of sockets) socket.destroy()
      await stopping
    },
  }
}

function forward(source: Socket, sink: Socket, isDead: () => boolean): void {
  source.on('data', (chunk: Buffer) => {
    if (isDead() || sink.destroyed || sink.write(chunk)) return
    source.pause()
    sink.once('drain', () => source.resume())
  })
}

function answer(status: string, type: string, body: string): string {
  return [
    `HTTP/1.1 ${status}`,
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}
