// Estimate of the link's speed, from the downloads that are made anyway. Gets byte counts and times only; uses no clock.

/** Assumed before any measurement: 4 MiB took 40 ms. The weight of this soon vanishes. */
const assumedBytes = 4 * 1024 * 1024
const assumedMs = 40
/** Half-life of the weight of a measurement, in bytes downloaded since. */
const halfLifeBytes = 64 * 1024 * 1024
/** A shorter answer shows only the latency. */
const measuredBytes = 32 * 1024
/** Shortest time that the clock can measure (ms). */
const leastMs = 0.05

export class LinkEstimate {
  #bytes = assumedBytes
  #ms = assumedMs
  /** Downloads under way (`begin` … `end`): each gets only its share of the link. */
  #flowing = 0

  begin(): void {
    this.#flowing++
  }

  /** Notes the end of a download: the bytes after its first chunk, and their time (ms) without pauses of the reader. */
  end(bytes: number, ms: number): void {
    const streams = this.#flowing--
    if (bytes < measuredBytes) return
    const faded = 2 ** (-bytes / halfLifeBytes)
    this.#bytes = this.#bytes * faded + bytes
    this.#ms = this.#ms * faded + Math.max(leastMs, ms) / streams
  }

  /** Time for so many bytes if nothing else used the link (ms). */
  msFor(bytes: number): number {
    return (bytes * this.#ms) / this.#bytes
  }
}
