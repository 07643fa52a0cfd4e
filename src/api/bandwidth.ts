// A limit on the bytes per second of one direction. Streams that share it take turns, piece by piece.

/** Pieces per second: so many that other streams wait a moment only, and no deadline passes between two pieces. */
const piecesPerSecond = 16

export interface BandwidthOptions {
  /** 0 = no limit. */
  readonly bytesPerSecond: number
  /** Milliseconds, monotonic. */
  readonly now: () => number
  readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** One per direction and client: shared by all uploads, or by all downloads. */
export class Bandwidth {
  #bytesPerMs = Infinity
  #pieceBytes = Infinity
  readonly #now: () => number
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** Time (of `now`) at which the bytes reserved so far are through. */
  #freeAtMs = Number.NEGATIVE_INFINITY

  constructor(options: BandwidthOptions) {
    this.#now = options.now
    this.#wait = options.wait
    this.limit(options.bytesPerSecond)
  }

  get isLimited(): boolean {
    return this.#bytesPerMs < Infinity
  }

  /** Changes the limit, also for streams that are being paced. `bytesPerSecond`: 0 = no limit. */
  limit(bytesPerSecond: number): void {
    this.#bytesPerMs = bytesPerSecond === 0 ? Infinity : bytesPerSecond / 1000
    this.#pieceBytes =
      bytesPerSecond === 0 ? Infinity : Math.max(1, Math.floor(bytesPerSecond / piecesPerSecond))
    // Bytes that were reserved at the former rate hold nobody up.
    this.#freeAtMs = Number.NEGATIVE_INFINITY
  }

  /** Yields the same bytes, in pieces when the limit allows. Calls `onPiece` before each. Throws the signal's reason. */
  async *pace(
    chunks: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    onPiece: () => void = () => {},
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length;) {
        const piece = chunk.subarray(start, start + this.#pieceBytes)
        start += piece.length
        const waitMs = this.#reserve(piece.length)
        if (waitMs > 0) await this.#wait(waitMs, signal)
        onPiece()
        yield piece
      }
    }
  }

  /** Reserves time for `bytes`; returns the milliseconds to wait before they may pass. */
  #reserve(bytes: number): number {
    const now = this.#now()
    const startsAtMs = Math.max(now, this.#freeAtMs)
    this.#freeAtMs = startsAtMs + bytes / this.#bytesPerMs
    return startsAtMs - now
  }
}
