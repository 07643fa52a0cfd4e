// The other side of a connection that goes through a proxy of a test.

import { connect, type Socket } from 'node:net'

/** Connects to a port of this machine. Both sockets are in `sockets` while they are open, and end together. */
export function connectBehind(client: Socket, port: number, sockets: Set<Socket>): Socket {
  const upstream = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  for (const socket of [client, upstream]) {
    sockets.add(socket)
    // Either side may be reset at any time: then the other is, too.
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      client.destroy()
      upstream.destroy()
    })
  }
  return upstream
}
