// Requests whose caller got a signal. The kernel reports that once per request, and not which signal it was. If it ends the
// program, the request is given up; a program that handles the signal must get the true result of its call.

import { isDying } from './dying-callers.ts'
import type { Request } from './request.ts'

/** Interval of checks whether a caller is dying: a signal that ends it may follow one that did not. */
const checkEveryMs = 100
/** Longest wait of a program that handles its signal for a read-only call; then it gets EINTR. */
const longestReadOnlyMs = 5_000

export class Interrupts {
  readonly #giveUp: (request: Request) => void
  /** Interrupted requests, each with the time (ms, `performance.now`) from which a read-only one is given up. */
  readonly #interrupted = new Map<Request, number>()
  #timer: NodeJS.Timeout | undefined

  /** `giveUp` is called for a request whose caller is dying, and for a read-only one that takes too long. */
  constructor(giveUp: (request: Request) => void) {
    this.#giveUp = giveUp
  }

  /** Call it when the request's caller got a signal. */
  add(request: Request): void {
    if (isDying(request.pid)) {
      this.#giveUp(request)
      return
    }
    this.#interrupted.set(request, performance.now() + longestReadOnlyMs)
    this.#timer ??= setInterval(() => this.#check(), checkEveryMs).unref()
  }

  /** Call it when the request was answered. */
  delete(request: Request): void {
    if (this.#interrupted.size === 0 || !this.#interrupted.delete(request)) return
    if (this.#interrupted.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    const now = performance.now()
    for (const [request, until] of this.#interrupted) {
      const isGivenUp = (request.isReadOnly && now >= until) || isDying(request.pid)
      if (!isGivenUp) continue
      this.delete(request)
      this.#giveUp(request)
    }
  }
}
