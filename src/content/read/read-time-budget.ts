// The time for which a read keeps trying. After one read has waited in vain for the service, others do not, for a while.

/** A read gives up after so long without a new byte (ms), also because it must not delay a suspend for longer. */
const fullMs = 15_000
/** Time after a read gave up in which others try only once (ms). */
const shortAfterFailureMs = 10_000

export class ReadTimeBudget {
  readonly #now: () => number
  /** Returns the silence since a time (ms), less what our own uploads explain (`Uplink`). */
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
