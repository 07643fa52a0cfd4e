// Reports of files on this machine that were found damaged or missing: each goes to the log and to the person, and stays in
// `status` as long as the drive runs.

import type { Log } from '../../log.ts'
import type { Clock } from '../../world/clock.ts'
import type { Notice } from '../notice.ts'

/** Shortest time between two reports of the same fault. */
const repeatAfterMs = 60_000
/** Number of reports kept, the latest ones. */
const mostReports = 20

export interface DamageReportsOptions {
  readonly stateDir: string
  readonly clock: Clock
  readonly log: Log
  readonly tell: (notice: Notice) => void
}

export class DamageReports {
  readonly #options: DamageReportsOptions
  /** By sentence: when it was reported last (ms of the steady clock); the latest last. */
  readonly #times = new Map<string, number>()

  constructor(options: DamageReportsOptions) {
    this.#options = options
  }

  /** Reports a fault. `sentence` says what it is and what was done about it, without a full stop. */
  report(sentence: string): void {
    const { clock, log, tell, stateDir } = this.#options
    const before = this.#times.get(sentence)
    const now = clock.steady()
    if (before !== undefined && now - before < repeatAfterMs) return
    this.#times.delete(sentence)
    this.#times.set(sentence, now)
    for (const oldest of this.#times.keys()) if (this.#times.size > mostReports) this.#times.delete(oldest)
    log.error({ stateDir }, sentence)
    tell({ kind: 'damaged', sentence })
  }

  /** Returns the sentences, the latest last. */
  list(): string[] {
    return [...this.#times.keys()]
  }

  /** Forgets the reports, which a person has read (`docmount dismiss`). */
  dismiss(): void {
    this.#times.clear()
  }
}
