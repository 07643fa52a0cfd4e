// A log for warnings that may come in thousands, one per document and attempt, while a service fails: they are counted.

import type { Timer, Timers } from '../../world/clock.ts'
import type { Log } from '../../log.ts'

const windowMs = 10_000

export class CountedLog {
  readonly #log: Log
  readonly #timers: Timers
  /** Number of warnings since the one logged, by kind. */
  readonly #repeated = new Map<string, { count: number; timer: Timer }>()

  constructor(log: Log, timers: Timers) {
    this.#log = log
    this.#timers = timers
  }

  /** Logs the first warning of a kind; those that follow within ten seconds become one line at their end. */
  warn(kind: string, fields: object, message: string): void {
    const repeated = this.#repeated.get(kind)
    if (repeated !== undefined) {
      repeated.count++
      return
    }
    this.#log.warn(fields, message)
    const timer = this.#timers.setTimeout(() => this.#end(kind, message), windowMs).unref()
    this.#repeated.set(kind, { count: 0, timer })
  }

  close(): void {
    for (const { timer } of this.#repeated.values()) this.#timers.clear(timer)
    this.#repeated.clear()
  }

  #end(kind: string, message: string): void {
    const count = this.#repeated.get(kind)?.count ?? 0
    this.#repeated.delete(kind)
    if (count > 0) this.#log.warn({ kind, count }, `${message}: as often again`)
  }
}
