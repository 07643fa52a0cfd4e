// Connections from a test's proxy to the server behind it.

import { connect, type Socket } from 'node:net'

/** Connects to `port` of this machine for `client`. Both sockets are in `sockets` while open, and are closed together. */
export function connectBehind(client: Socket, port: number, sockets: Set<Socket>): Socket {
  const upstream = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  for (const socket of [client, upstream]) {
    sockets.add(socket)
    // Either side may be reset at any time; 'close' then ends the other, too.
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      client.destroy()
      upstream.destroy()
    })
  }
  return upstream
}
