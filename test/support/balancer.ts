// A plain TCP load balancer: each connection goes to the next port in turn that accepts it.

import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export interface Balancer extends AsyncDisposable {
  readonly port: number
}

/** Starts it on a free port. `ports` is called for each connection, because nodes come and go. */
export async function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  let turn = 0
  const open = new Set<Socket>()
  const server = createServer((client) => {
    open.add(client)
    client.once('close', () => open.delete(client))
    client.on('error', () => client.destroy())
    const [...untried] = ports()
    turn++
    const next = (): void => {
      const port = untried.splice(turn % Math.max(1, untried.length), 1)[0]
      if (port === undefined) return void client.destroy()
      const node = connect(port, '127.0.0.1')
      node.once('connect', () => {
        client.pipe(node).pipe(client)
        for (const [one, other] of [
          [client, node],
          [node, client],
        ] as const)
          one.once('close', () => other.destroy())
        node.on('error', () => client.destroy())
      })
      node.once('error', () => (node.readyState === 'open' ? undefined : next()))
    }
    next()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
