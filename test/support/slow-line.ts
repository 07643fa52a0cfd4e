// A slow network to a service, like a modem or a company's proxy. Bytes of all connections go through one queue in each direction,
// so that a small request waits behind uploads that were sent before it.

import { createServer, type AddressInfo, type Socket } from 'node:net'
import { connectBehind } from './connect-behind.ts'

export interface SlowLineOptions {
  /** The service's port on this machine. */
  readonly targetPort: number
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string
  /** Rate of all connections together, in each direction. Default: no limit. */
  readonly bytesPerSecond?: number
  /** Most bytes of one connection in the queue, in each direction; then its sender has to wait. */
  readonly heldBytes: number
  readonly roundTripMs?: number
}

export interface SlowLine extends AsyncDisposable {
  /** The service's base URL through this line; ends with `/api`. */
  readonly baseUrl: string
  /** Bytes received from clients so far, sent on or not. */
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

/** One direction of the line. */
class Line {
  readonly #bytesPerMs: number
  readonly #delayMs: number
  readonly #heldBytes: number
  /** Time at which all bytes so far have left the queue. */
  #freeAt = 0
  takenBytes = 0

  constructor({ bytesPerSecond = Infinity, roundTripMs = 0, heldBytes }: SlowLineOptions) {
    this.#bytesPerMs = bytesPerSecond / 1000
    this.#delayMs = roundTripMs / 2
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
        setTimeout(() => void (sink.destroyed || sink.write(chunk)), this.#delayMs)
      })
    })
    source.on('end', () => this.#after(0, () => void setTimeout(() => sink.end(), this.#delayMs)))
  }

  #after(bytes: number, passOn: () => void): void {
    const now = performance.now()
    this.#freeAt = Math.max(now, this.#freeAt) + bytes / this.#bytesPerMs
    setTimeout(passOn, this.#freeAt - now)
  }
}
