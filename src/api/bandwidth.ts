// A limit on the bytes per second of one direction: a token bucket that is drawn from in the order of asking.

/** Pieces a second: as short as the wait of whoever is next, and no deadline runs out between two of them. */
const piecesPerSecond = 16

export interface BandwidthOptions {
  /** Above 0. */
  readonly bytesPerSecond: number
  /** Milliseconds, monotonic. */
  readonly now: () => number
  readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** Shared by all who send, or by all who receive. */
export class Bandwidth {
  readonly #bytesPerMs: number
  readonly #pieceBytes: number
  readonly #now: () => number
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** When all that was let through so far has had its time. */
  #freeAtMs = Number.NEGATIVE_INFINITY

  constructor(options: BandwidthOptions) {
    this.#bytesPerMs = options.bytesPerSecond / 1000
    this.#pieceBytes = Math.max(1, Math.floor(options.bytesPerSecond / piecesPerSecond))
    this.#now = options.now
    this.#wait = options.wait
  }

  /** The same bytes, in pieces, none earlier than the limit allows. Throws AbortError while it waits. */
  async *pace(
    chunks: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    onPiece: () => void = () => {},
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length; start += this.#pieceBytes) {
        const piece = chunk.subarray(start, start + this.#pieceBytes)
        const waitMs = this.#reserve(piece.length)
        if (waitMs > 0) await this.#wait(waitMs, signal)
        onPiece()
        yield piece
      }
    }
  }

  #reserve(bytes: number): number {
    const now = this.#now()
    const startsAtMs = Math.max(now, this.#freeAtMs)
    this.#freeAtMs = startsAtMs + bytes / this.#bytesPerMs
    return startsAtMs - now
  }
}
