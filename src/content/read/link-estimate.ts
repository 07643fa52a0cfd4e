// How fast the way to the service's downloads is, told from the answers that come anyway. No bytes, no clock.

/** Assumed before any measurement: 4 MiB took 40 ms. It soon weighs nothing. */
const assumedBytes = 4 * 1024 * 1024
const assumedMs = 40
/** A measurement so many bytes ago weighs half. */
const halfLifeBytes = 64 * 1024 * 1024
/** An answer shorter than this tells of its latency only. */
const tellingBytes = 32 * 1024
/** A clock's tick: less cannot be told from nothing. */
const leastMs = 0.05

export class LinkEstimate {
  #bytes = assumedBytes
  #ms = assumedMs
  /** Answers that flow now: each sees its share of the way only. */
  #flowing = 0

  begin(): void {
    this.#flowing++
  }

  /** An answer has ended: so many bytes came in so many milliseconds after its first ones, its reader's pauses not counted. */
  end(bytes: number, ms: number): void {
    const streams = this.#flowing--
    if (bytes < tellingBytes) return
    const faded = 2 ** (-bytes / halfLifeBytes)
    this.#bytes = this.#bytes * faded + bytes
    this.#ms = this.#ms * faded + Math.max(leastMs, ms) / streams
  }

  /** Milliseconds for so many bytes, were nothing else on the way. */
  msFor(bytes: number): number {
    return (bytes * this.#ms) / this.#bytes
  }
}
