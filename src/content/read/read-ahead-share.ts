// How much of the memory for read-ahead each handle gets: an equal part of it for everyone who reads in order.

import type { ReadAheadBudget } from './block-reading.ts'

/** No handle's window is larger. */
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
