// Listings that came a moment ago stay as they came, since whoever asked looks at every name now. They are packed when the
// moment is over, one after another, and the oldest sooner where they are too many.

import type { Timer, Timers } from '../../world/clock.ts'
import type { ListedNames } from './listed-names.ts'

/** As long as a program needs for a folder it listed (ms). */
const momentMs = 5_000
/** Between two that are packed, for others to have their turn (ms). */
const pauseMs = 10

export interface JustListedOptions {
  readonly timers: Timers
  /** Bytes that may wait; what is larger alone is packed at once. */
  readonly mostBytes: number
  /** The folder's names take less room now. */
  packed(ino: number, names: ListedNames): void
}

export class JustListed {
  readonly #options: JustListedOptions
  /** By folder, the oldest first. */
  readonly #waiting = new Map<number, { names: ListedNames; bytes: number }>()
  #bytes = 0
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: JustListedOptions) {
    this.#options = options
  }

  /** This is the folder's listing now. */
  add(ino: number, names: ListedNames): void {
    this.#take(ino)
    const { bytes } = names
    this.#waiting.set(ino, { names, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#options.mostBytes) this.#packOldest()
    this.#packLater(momentMs)
  }

  /** Nobody looks at it any more. */
  forget(ino: number): void {
    this.#take(ino)
  }

  /** No timer is left. */
  close(): void {
    this.#isClosed = true
    this.#options.timers.clear(this.#timer)
    this.#timer = undefined
  }

  #packLater(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed || this.#waiting.size === 0) return
    this.#timer = this.#options.timers
      .setTimeout(() => {
        this.#timer = undefined
        this.#packOldest()
        this.#packLater(pauseMs)
      }, ms)
      .unref()
  }

  #packOldest(): void {
    for (const [ino, { names }] of this.#waiting) {
      this.#take(ino)
      names.pack()
      this.#options.packed(ino, names)
      return
    }
  }

  #take(ino: number): void {
    this.#bytes -= this.#waiting.get(ino)?.bytes ?? 0
    this.#waiting.delete(ino)
  }
}
