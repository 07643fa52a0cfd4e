// Turns that are asked for now and taken when no more come: readers first.

import type { Clock, Timer } from '../../world/clock.ts'

const quietMs = 100

export class IdleTimer {
  readonly #clock: Clock
  readonly #take: (name: string) => void
  readonly #waiting = new Set<string>()
  #timer: Timer | undefined
  #lastMs = 0

  /** `take` is called once for each name, when nothing was asked for for a tenth of a second. */
  constructor(clock: Clock, take: (name: string) => void) {
    this.#clock = clock
    this.#take = take
  }

  /** Undefined: something came for which no turn is needed, and it is not quiet. */
  add(name: string | undefined): void {
    if (name !== undefined) this.#waiting.add(name)
    this.#lastMs = this.#clock.monotonic()
    this.#timer ??= this.#clock.setTimeout(() => this.#look(), quietMs).unref()
  }

  /** All turns at once. */
  takeAll(): void {
    this.#clock.clear(this.#timer)
    this.#timer = undefined
    const names = [...this.#waiting]
    this.#waiting.clear()
    for (const name of names) this.#take(name)
  }

  #look(): void {
    this.#timer = undefined
    const restMs = this.#lastMs + quietMs - this.#clock.monotonic()
    if (restMs <= 0) this.takeAll()
    else this.#timer = this.#clock.setTimeout(() => this.#look(), restMs).unref()
  }
}
