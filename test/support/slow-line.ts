// A slow way to a service, as a modem or a proxy in a company makes it: what is taken from a connection is held, up to a
// bound, and goes on in the order in which it was taken from all of them. A question stands in line behind the uploads.

import { createServer, type AddressInfo, type Socket } from 'node:net'
import { connectBehind } from './connect-behind.ts'

export interface SlowLineOptions {
  /** The service's port on this machine. */
  readonly targetPort: number
  /** Where it listens. Default: 127.0.0.1. */
  readonly host?: string
  /** Of all connections together, in each direction. Default: no limit. */
  readonly bytesPerSecond?: number
  /** Taken from a connection and not passed on yet, in each direction. */
  readonly heldBytes: number
  readonly roundTripMs?: number
}

export interface SlowLine extends AsyncDisposable {
  /** As the service's own, through this line; ends with `/api`. */
  readonly baseUrl: string
  /** Taken from clients so far. */
  readonly sentBytes: number
}

export async function startSlowLine(options: SlowLineOptions): Promise<SlowLine> {
  const { targetPort, host = '127.0.0.1' } = options
  const sockets = new Set<Socket>()
  const [there, back] = [new Line(options), new Line(options)]
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const upstream = connectBehind(client, targetPort, sockets)
    there.carry(client, upstream)
    back.carry(upstream, client)
  })
  await new Promise<void>((resolve) => void server.listen(0, host, resolve))
  return {
    baseUrl: `http://${host}:${(server.address() as AddressInfo).port}/api`,
    get sentBytes() {
      return there.takenBytes
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}

class Line {
  readonly #bytesPerMs: number
  readonly #lateMs: number
  readonly #heldBytes: number
  /** When all that was taken so far has gone out. */
  #freeAt = 0
  takenBytes = 0

  constructor({ bytesPerSecond = Infinity, roundTripMs = 0, heldBytes }: SlowLineOptions) {
    this.#bytesPerMs = bytesPerSecond / 1000
    this.#lateMs = roundTripMs / 2
    this.#heldBytes = heldBytes
  }

  carry(source: Socket, sink: Socket): void {
    let held = 0
    source.on('data', (chunk: Buffer) => {
      this.takenBytes += chunk.length
      held += chunk.length
      if (held >= this.#heldBytes) source.pause()
      this.#after(chunk.length, () => {
        held -= chunk.length
        if (held < this.#heldBytes) source.resume()
        setTimeout(() => void (sink.destroyed || sink.write(chunk)), this.#lateMs)
      })
    })
    source.on('end', () => this.#after(0, () => void setTimeout(() => sink.end(), this.#lateMs)))
  }

  #after(bytes: number, goOut: () => void): void {
    const now = performance.now()
    this.#freeAt = Math.max(now, this.#freeAt) + bytes / this.#bytesPerMs
    setTimeout(goOut, this.#freeAt - now)
  }
}
