// Every connection there is, those among them that Node's HTTP server does not count: TLS that nobody has agreed on yet, and
// what was answered on the socket. They would keep the service from ending.

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
