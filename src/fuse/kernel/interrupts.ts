// Requests whose caller got a signal. The kernel says so once per request and does not say which signal it was: one that
// ends the program, or one it handles and goes on from. A call that goes on must hear what really became of it.

import { isDying } from './dying-callers.ts'
import type { Request } from './request.ts'

/** How often callers are looked at: a signal that ends the program may come after one that did not. */
const lookEveryMs = 100
/** How long whoever handles signals waits for a call that only looks before it is told EINTR. */
const longestLookMs = 5_000

export class Interrupts {
  readonly #giveUp: (request: Request) => void
  /** With the time (ms, monotonic) from which a call that only looks is given up. */
  readonly #interrupted = new Map<Request, number>()
  #timer: NodeJS.Timeout | undefined

  /** `giveUp` answers a request whose caller is dying, or has waited long for a call that changes nothing. */
  constructor(giveUp: (request: Request) => void) {
    this.#giveUp = giveUp
  }

  /** The request's caller got a signal. */
  add(request: Request): void {
    if (isDying(request.pid)) {
      this.#giveUp(request)
      return
    }
    this.#interrupted.set(request, performance.now() + longestLookMs)
    this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref()
  }

  /** The request was answered. */
  delete(request: Request): void {
    if (this.#interrupted.size === 0 || !this.#interrupted.delete(request)) return
    if (this.#interrupted.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const now = performance.now()
    for (const [request, until] of this.#interrupted) {
      const isGivenUp = (request.onlyLooks && now >= until) || isDying(request.pid)
      if (!isGivenUp) continue
      this.delete(request)
      this.#giveUp(request)
    }
  }
}
