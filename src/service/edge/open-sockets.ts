// All open connections of a server, so that they can be destroyed at its end. Node's HTTP server does not know those whose TLS
// handshake is not complete, nor those answered directly on the socket; they would keep the process alive.

import type { Server, Socket } from 'node:net'

export interface OpenSockets {
  destroyAll(): void
}

export function openSocketsOf(server: Server): OpenSockets {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return {
    destroyAll() {
      for (const socket of open) socket.destroy()
    },
  }
}
