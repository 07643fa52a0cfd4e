// Documents that could not be fetched, and when each may be tried again: later each time, so that a document that never works
// costs next to nothing, and does not delay the others. No I/O.

import { doubledMs, type BackoffLimits } from '../../backoff.ts'
import type { FoundDocument } from './survey.ts'

const backoff: BackoffLimits = { firstMs: 2_000, longestMs: 5 * 60_000 }

interface Setback {
  readonly fingerprint: string | undefined
  readonly problem: string
  readonly failures: number
  /** Milliseconds of a monotonic clock. */
  readonly until: number
}

export class Setbacks {
  readonly #now: () => number
  readonly #byPath = new Map<string, Setback>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Returns why, and for how long (ms), the document may not be tried yet. Another version may be tried at once. */
  against({ path, version }: FoundDocument): { problem: string; forMs: number } | undefined {
    const setback = this.#byPath.get(path)
    if (setback === undefined || setback.fingerprint !== version?.fingerprint) return undefined
    const forMs = setback.until - this.#now()
    return forMs > 0 ? { problem: setback.problem, forMs } : undefined
  }

  /** Notes a failure. Returns the time until the next try (ms). */
  failed({ path, version }: FoundDocument, problem: string): number {
    const failures = (this.#byPath.get(path)?.failures ?? 0) + 1
    const pauseMs = doubledMs(failures, backoff)
    const until = this.#now() + pauseMs
    this.#byPath.set(path, { fingerprint: version?.fingerprint, problem, failures, until })
    return pauseMs
  }

  succeeded({ path }: FoundDocument): void {
    this.#byPath.delete(path)
  }

  /** Lets every document be tried now. */
  clear(): void {
    this.#byPath.clear()
  }
}
