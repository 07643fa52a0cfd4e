// Which connections stay when there are too many: a client that opens them without end takes none from the others. Of the
// client that has the most, the one goes on which nothing was asked for longest; where all of them are at work, the newest.

import type { Socket } from 'node:net'

interface Connection {
  /** Without its TLS. */
  readonly socket: Socket
  readonly client: string
  /** Requests that are not answered yet. */
  requests: number
}

export class Connections {
  readonly #most: number
  /** By their other end, in the order of their last request: the oldest first. */
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
    if (this.#open.size > this.#most) this.#giveUp()
  }

  /** A request came on it, with TLS or without. Answers what is to be called when that is over. */
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

  #giveUp(): void {
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

/** The address a connection comes from. */
export function clientOf({ remoteAddress = '' }: Socket): string {
  return remoteAddress
}

function endOf(socket: Socket): string {
  return `${clientOf(socket)} ${socket.remotePort}`
}
