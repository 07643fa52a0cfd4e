// Something loaded from the service that is good for a while. All who ask while it loads wait for the same load.

import { abortable } from '../abortable.ts'
import type { MaybePromise } from '../fs/operations.ts'

export interface LoadedForAWhileOptions {
  readonly ttlMs: number
  /** Milliseconds of a clock that only grows. */
  readonly now: () => number
  readonly load: () => Promise<void>
}

export class TtlCache {
  readonly #options: LoadedForAWhileOptions
  #validUntilMs = -Infinity
  #loading: Promise<void> | undefined

  constructor(options: LoadedForAWhileOptions) {
    this.#options = options
  }

  /** At once where it is good; else after a load. Throws what the load throws. */
  ensure(signal: AbortSignal): MaybePromise<void> {
    if (this.#options.now() < this.#validUntilMs) return undefined
    this.#loading ??= this.#load()
    return abortable(this.#loading, signal)
  }

  /** The next `ensure` loads, also when a load is under way. */
  forget(): void {
    this.#validUntilMs = -Infinity
    this.#loading = undefined
  }

  #load(): Promise<void> {
    const { ttlMs, now, load } = this.#options
    // Counted from the question: the answer may be as old as that.
    const validUntilMs = now() + ttlMs
    const loading: Promise<void> = load().then(
      () => this.#ended(loading, validUntilMs),
      (error: unknown) => {
        this.#ended(loading, -Infinity)
        throw error
      },
    )
    return loading
  }

  #ended(loading: Promise<void>, validUntilMs: number): void {
    // Forgotten meanwhile: somebody else loads, or will.
    if (this.#loading !== loading) return
    this.#loading = undefined
    this.#validUntilMs = validUntilMs
  }
}
