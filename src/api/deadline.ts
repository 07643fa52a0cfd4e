// One abort signal for a call, joined from the caller's signal, its watch's signal, and a time limit.
// Not AbortSignal.any: its listeners stay on a long-lived parent until that is collected.

import type { Clock, Timer } from '../world/clock.ts'
import { setMaxListeners } from 'node:events'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { CallWatch } from './types.ts'

/** 24 days. Node fires a longer timer at once. */
const longestTimerMs = 2 ** 31 - 1

/** A timer that fires this late means that the process was stopped meanwhile. */
const standstillMs = 2_000

/** A call's time limit and signal. Dispose it when the call has ended: its timer keeps the process alive. */
export class Deadline {
  readonly #controller = new AbortController()
  readonly #parents: readonly AbortSignal[]
  readonly #limitMs: number
  readonly #clock: Clock
  readonly #watch: CallWatch | undefined
  #timer: Timer
  #startedAt: number
  /** Time at which the timer should fire (monotonic clock). */
  #firesAt = 0
  #hasPassed = false

  constructor(signal: AbortSignal | undefined, watch: CallWatch | undefined, limitMs: number, clock: Clock) {
    this.#clock = clock
    this.#watch = watch
    this.#parents = [signal, watch?.signal].filter((parent) => parent !== undefined)
    this.#limitMs = Math.min(limitMs, longestTimerMs)
    this.#startedAt = this.#clock.monotonic()
    this.#timer = this.#startTimer(this.#limitMs)
    for (const parent of this.#parents) {
      // No leak: one signal may have a listener for each of hundreds of calls, and `dispose` removes them.
      setMaxListeners(0, parent)
      if (parent.aborted) this.#followParent()
      else parent.addEventListener('abort', this.#followParent, { once: true })
    }
  }

  /** Aborts when the caller or the watch aborts, or the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Milliseconds left. */
  get remainingMs(): number {
    const passedMs = this.#clock.monotonic() - this.#startedAt
    return Math.max(0, this.#limitMs - (this.#watch?.silentMs(this.#startedAt) ?? passedMs))
  }

  /** Restarts the time limit, because progress was made. */
  renew(): void {
    this.#startedAt = this.#clock.monotonic()
    this.#clock.clear(this.#timer)
    if (!this.#hasPassed) this.#timer = this.#startTimer(this.#limitMs)
  }

  /** Stops the time limit until `renew`. */
  pause(): void {
    this.#clock.clear(this.#timer)
  }

  /** Returns the error for a call that failed with `error`: the abort's reason, NetworkError "deadline", or `error` itself. */
  explain(call: CallDescription, error: unknown): unknown {
    const aborted = this.#abortedParent
    if (aborted !== undefined) return aborted.reason
    if (!this.#hasPassed) return error
    return new NetworkError(call, 'deadline', `no answer within ${this.#limitMs / 1000} s`)
  }

  dispose(): void {
    this.#clock.clear(this.#timer)
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#followParent)
  }

  get #abortedParent(): AbortSignal | undefined {
    return this.#parents.find(({ aborted }) => aborted)
  }

  #startTimer(ms: number): Timer {
    this.#firesAt = this.#clock.monotonic() + ms
    return this.#clock.setTimeout(this.#onTimer, ms)
  }

  readonly #onTimer = (): void => {
    // The process was stopped (suspend, SIGSTOP) and could not receive an answer: the time starts again.
    if (this.#clock.monotonic() - this.#firesAt > standstillMs) {
      this.renew()
      return
    }
    // A watch may not have counted all of the time. Without one the time is over, even if the timer fired a moment early.
    const leftMs = this.#watch === undefined ? 0 : this.remainingMs
    if (leftMs >= 1) {
      this.#timer = this.#startTimer(leftMs)
      return
    }
    this.#hasPassed = true
    this.#controller.abort()
  }

  readonly #followParent = (): void => {
    this.#controller.abort(this.#abortedParent?.reason)
  }
}
