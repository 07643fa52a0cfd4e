// How long a read keeps trying. A service that was waited for in vain is not waited for again by every other read.

/** A read gives up after this long without one new byte (so that a suspend is not held up for longer). */
const fullMs = 15_000
/** For this long after giving up, reads try only once. */
const shortAfterFailureMs = 10_000

export class ReadTimeBudget {
  readonly #now: () => number
  /** How much of the silence since then is to be counted (ms). */
  readonly silentMs: (since: number) => number
  #gaveUpAtMs = Number.NEGATIVE_INFINITY

  constructor(now: () => number, silentMs: (since: number) => number = (since) => now() - since) {
    this.#now = now
    this.silentMs = silentMs
  }

  /** Milliseconds without progress after which no further attempt is made; 0 = one attempt only. */
  get budgetMs(): number {
    return this.#now() - this.#gaveUpAtMs < shortAfterFailureMs ? 0 : fullMs
  }

  succeeded(): void {
    this.#gaveUpAtMs = Number.NEGATIVE_INFINITY
  }

  gaveUp(): void {
    this.#gaveUpAtMs = this.#now()
  }
}
