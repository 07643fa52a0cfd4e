// Files found damaged, or taken away, on this machine: each said once, in the log, to the person, and as long as the
// drive lives in its status.

import type { Log } from '../../log.ts'
import type { Clock } from '../../world/clock.ts'
import type { Notice } from '../notice.ts'

/** A sentence that is found again and again is told so often. */
const againMs = 60_000
/** The latest of them. */
const mostSentences = 20

export interface DamageReportsOptions {
  readonly stateDir: string
  readonly clock: Clock
  readonly log: Log
  readonly tell: (notice: Notice) => void
}

export class DamageReports {
  readonly #options: DamageReportsOptions
  /** With the time each was told (ms of the steady clock), the latest last. */
  readonly #told = new Map<string, number>()

  constructor(options: DamageReportsOptions) {
    this.#options = options
  }

  /** Reports a fault: what it is, and what was done about it, in a sentence without its full stop. */
  found(sentence: string): void {
    const { clock, log, tell, stateDir } = this.#options
    const before = this.#told.get(sentence)
    const now = clock.steady()
    if (before !== undefined && now - before < againMs) return
    this.#told.delete(sentence)
    this.#told.set(sentence, now)
    for (const oldest of this.#told.keys()) if (this.#told.size > mostSentences) this.#told.delete(oldest)
    log.error({ stateDir }, sentence)
    tell({ kind: 'damaged', sentence })
  }

  list(): string[] {
    return [...this.#told.keys()]
  }

  /** A person has read them. */
  dismiss(): void {
    this.#told.clear()
  }
}
