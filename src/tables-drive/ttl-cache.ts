// A cached load from the service, valid for a while. Concurrent callers wait for the same load.

import { abortable } from '../abortable.ts'
import type { MaybePromise } from '../fs/operations.ts'

export interface TtlCacheOptions {
  readonly ttlMs: number
  /** Steady clock, in milliseconds. */
  readonly now: () => number
  readonly load: () => Promise<void>
}

export class TtlCache {
  readonly #options: TtlCacheOptions
  #validUntilMs = -Infinity
  #loading: Promise<void> | undefined

  constructor(options: TtlCacheOptions) {
    this.#options = options
  }

  /** Returns at once while the last load is valid, else waits for a new one. Throws the error of the load. */
  ensure(signal: AbortSignal): MaybePromise<void> {
    if (this.#options.now() < this.#validUntilMs) return undefined
    this.#loading ??= this.#load()
    return abortable(this.#loading, signal)
  }

  /** Makes the next `ensure` load anew, even if a load is under way. */
  forget(): void {
    this.#validUntilMs = -Infinity
    this.#loading = undefined
  }

  #load(): Promise<void> {
    const { ttlMs, now, load } = this.#options
    // From the start of the load, because the answer may be that old.
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
    // `forget` was called meanwhile, so the result of this load is ignored.
    if (this.#loading !== loading) return
    this.#loading = undefined
    this.#validUntilMs = validUntilMs
  }
}
