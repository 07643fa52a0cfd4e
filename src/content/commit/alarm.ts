// One timer for many who wait: it rings at the earliest time anybody asked for.

/** Longer waits are cut into pieces: `setTimeout` takes no more than 2 ** 31 ms. */
const longestTimerMs = 2 ** 30

export class Alarm {
  readonly #now: () => number
  readonly #ring: () => void
  #timer: NodeJS.Timeout | undefined
  #at = Infinity

  /** `now` in milliseconds of a clock that only grows. */
  constructor(now: () => number, ring: () => void) {
    this.#now = now
    this.#ring = ring
  }

  /** When it rings; Infinity where nobody waits. */
  get at(): number {
    return this.#at
  }

  /** Rings at this time, unless it rings before that anyway. */
  set(time: number): void {
    if (time >= this.#at) return
    this.clear()
    this.#at = time
    this.#timer = setTimeout(
      () => {
        this.#at = Infinity
        this.#ring()
      },
      Math.min(Math.max(0, time - this.#now()), longestTimerMs),
    )
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#at = Infinity
  }
}
