// A timer that delays disk writes until no more come for a tenth of a second, so that readers go first.

import type { Clock, Timer } from '../../world/clock.ts'

const quietMs = 100

export class IdleTimer {
  readonly #clock: Clock
  readonly #take: (name: string) => void
  readonly #waiting = new Set<string>()
  #timer: Timer | undefined
  #lastMs = 0

  /** `take` is called once for each waiting name, when there was no `add` for a tenth of a second. */
  constructor(clock: Clock, take: (name: string) => void) {
    this.#clock = clock
    this.#take = take
  }

  /** Adds a waiting name, and restarts the quiet time. Undefined (more of a name that waits already) only restarts it. */
  add(name: string | undefined): void {
    if (name !== undefined) this.#waiting.add(name)
    this.#lastMs = this.#clock.monotonic()
    this.#timer ??= this.#clock.setTimeout(() => this.#check(), quietMs).unref()
  }

  /** Takes all waiting names now. */
  takeAll(): void {
    this.#clock.clear(this.#timer)
    this.#timer = undefined
    const names = [...this.#waiting]
    this.#waiting.clear()
    for (const name of names) this.#take(name)
  }

  #check(): void {
    this.#timer = undefined
    const restMs = this.#lastMs + quietMs - this.#clock.monotonic()
    if (restMs <= 0) this.takeAll()
    else this.#timer = this.#clock.setTimeout(() => this.#check(), restMs).unref()
  }
}
