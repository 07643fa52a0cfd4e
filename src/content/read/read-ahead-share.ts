// Each handle's share of the memory for read-ahead: an equal part for every handle that reads sequentially.

import type { ReadAheadBudget } from './block-reading.ts'

/** Largest window of a handle (bytes). */
const maxWindowBytes = 32 * 1024 * 1024

export class ReadAheadShare implements ReadAheadBudget {
  readonly #totalBytes: number
  readonly #streaming = new Set<object>()

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  get maxWindowBytes(): number {
    return Math.min(maxWindowBytes, Math.floor(this.#totalBytes / Math.max(1, this.#streaming.size)))
  }

  setStreaming(reading: object, isStreaming: boolean): void {
    if (isStreaming) this.#streaming.add(reading)
    else this.#streaming.delete(reading)
  }
}
