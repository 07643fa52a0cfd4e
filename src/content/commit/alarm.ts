// One timer for many waiting jobs: it rings at the earliest time that was asked for.

import type { Clock, Timer } from '../../world/clock.ts'

/** Longer waits are cut into pieces: `setTimeout` takes no more than 2 ** 31 ms. */
const longestTimerMs = 2 ** 30

export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #timer: Timer | undefined
  #at = Infinity

  /** Times are the clock's steady ones. */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Time at which it rings; Infinity while it is not set. */
  get at(): number {
    return this.#at
  }

  /** Rings at this time, unless an earlier one is set. */
  set(time: number): void {
    if (time >= this.#at) return
    this.clear()
    this.#at = time
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#at = Infinity
        this.#ring()
      },
      Math.min(Math.max(0, time - this.#clock.steady()), longestTimerMs),
    )
  }

  clear(): void {
    this.#clock.clear(this.#timer)
    this.#at = Infinity
  }
}
