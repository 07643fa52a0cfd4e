// The limit of open connections. Beyond it, the client with the most connections loses one, so that it takes none from the
// others: the one that is idle longest, or the newest if all are busy.

import type { Socket } from 'node:net'

interface Connection {
  /** The TCP socket, also of a TLS connection. */
  readonly socket: Socket
  readonly client: string
  /** Requests that are not answered yet. */
  requests: number
}

export class Connections {
  readonly #most: number
  /** Connections by remote address and port, in the order of their last request, oldest first. */
  readonly #open = new Map<string, Connection>()

  constructor(most: number) {
    this.#most = most
  }

  add(socket: Socket): void {
    const end = endOf(socket)
    const connection = { socket, client: clientOf(socket), requests: 0 }
    this.#open.set(end, connection)
    socket.once('close', () => {
      if (this.#open.get(end) === connection) this.#open.delete(end)
    })
    if (this.#open.size > this.#most) this.#closeOne()
  }

  /** Counts a request on a socket (TCP or TLS). Returns a function to call when it was answered. */
  begin(socket: Socket): () => void {
    const end = endOf(socket)
    const connection = this.#open.get(end)
    if (connection === undefined) return () => {}
    connection.requests += 1
    return () => {
      connection.requests -= 1
      if (this.#open.get(end) !== connection) return
      this.#open.delete(end)
      this.#open.set(end, connection)
    }
  }

  #closeOne(): void {
    const byClient = new Map<string, Connection[]>()
    for (const connection of this.#open.values()) {
      const open = byClient.get(connection.client)
      if (open === undefined) byClient.set(connection.client, [connection])
      else open.push(connection)
    }
    const [most = []] = [...byClient.values()].toSorted((one, other) => other.length - one.length)
    const connection = most.find(({ requests }) => requests === 0) ?? most.at(-1)
    connection?.socket.destroy()
  }
}

/** Returns the remote address of a connection. */
export function clientOf({ remoteAddress = '' }: Socket): string {
  return remoteAddress
}

function endOf(socket: Socket): string {
  return `${clientOf(socket)} ${socket.remotePort}`
}
