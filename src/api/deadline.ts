// One clock and one signal for a call: the AbortSignals of who made and who watches it, joined with our own time limit.
// Not AbortSignal.any: its listeners on a long-lived parent are only collected with the parent.

import type { Clock, Timer } from '../world/clock.ts'
import { setMaxListeners } from 'node:events'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { CallWatch } from './types.ts'

/** A longer timer would fire at once. 24 days are for ever enough. */
const longestTimerMs = 2 ** 31 - 1

/** A timer this late says that the process did not run meanwhile. */
const standstillMs = 2_000

/** Joins signals with a time limit. Dispose it when the call has ended, or the timer keeps the process alive. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #parents: readonly AbortSignal[]
  readonly #limitMs: number
  readonly #clock: Clock
  readonly #watch: CallWatch | undefined
  #timer: Timer
  #startedAt: number
  /** When the timer should ring. */
  #ringsAt = 0
  #hasPassed = false

  constructor(signal: AbortSignal | undefined, watch: CallWatch | undefined, limitMs: number, clock: Clock) {
    this.#clock = clock
    this.#watch = watch
    this.#parents = [signal, watch?.signal].filter((parent) => parent !== undefined)
    this.#limitMs = Math.min(limitMs, longestTimerMs)
    this.#startedAt = this.#clock.monotonic()
    this.#timer = this.#ringAfter(this.#limitMs)
    for (const parent of this.#parents) {
      // One signal may bound hundreds of calls: as many listeners are no leak, each goes with its call.
      setMaxListeners(0, parent)
      if (parent.aborted) this.#follow()
      else parent.addEventListener('abort', this.#follow, { once: true })
    }
  }

  /** Aborted when the caller aborts or the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Milliseconds left. */
  get remainingMs(): number {
    const passedMs = this.#clock.monotonic() - this.#startedAt
    return Math.max(0, this.#limitMs - (this.#watch?.silentMs(this.#startedAt) ?? passedMs))
  }

  /** Progress was made: the time starts anew. */
  renew(): void {
    this.#startedAt = this.#clock.monotonic()
    this.#clock.clear(this.#timer)
    if (!this.#hasPassed) this.#timer = this.#ringAfter(this.#limitMs)
  }

  /** Stops the clock until `renew`. */
  pause(): void {
    this.#clock.clear(this.#timer)
  }

  /** The reason that a call which failed with `error` rejects with: the caller's own, "deadline", or the error itself. */
  explain(call: CallDescription, error: unknown): unknown {
    const aborted = this.#aborted
    if (aborted !== undefined) return aborted.reason
    if (!this.#hasPassed) return error
    return new NetworkError(call, 'deadline', `no answer within ${this.#limitMs / 1000} s`)
  }

  dispose(): void {
    this.#clock.clear(this.#timer)
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#follow)
  }

  get #aborted(): AbortSignal | undefined {
    return this.#parents.find(({ aborted }) => aborted)
  }

  #ringAfter(ms: number): Timer {
    this.#ringsAt = this.#clock.monotonic() + ms
    return this.#clock.setTimeout(this.#ring, ms)
  }

  readonly #ring = (): void => {
    // The process stood still (a suspend, SIGSTOP), and could take no answer. The time starts anew.
    if (this.#clock.monotonic() - this.#ringsAt > standstillMs) {
      this.renew()
      return
    }
    // Without a watch the timer is right, though it may ring a moment early.
    const leftMs = this.#watch === undefined ? 0 : this.remainingMs
    if (leftMs >= 1) {
      this.#timer = this.#ringAfter(leftMs)
      return
    }
    this.#hasPassed = true
    this.#controller.abort()
  }

  readonly #follow = (): void => {
    this.#controller.abort(this.#aborted?.reason)
  }
}
