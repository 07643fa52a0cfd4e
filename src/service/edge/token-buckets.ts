// A token bucket per name (key or address): `perSecond` requests a second, in bursts of up to ten seconds' worth. A bucket is
// stored as the time at which it will be full again. Where several nodes serve, each takes from its own copy, which the
// common tally corrects every second.

const burstMs = 10_000
const maxNames = 10_000
/** A name that has taken less than so much since the last share waits for the next one. */
const leastSharedMs = 10
const maxSharedNames = 1_000

interface Bucket {
  /** Milliseconds of `now`. */
  fullAt: number
  /** Tokens taken and not added to the tally yet, as the time they take to refill. */
  unsharedMs: number
}

/** Adds tokens taken, by name; returns in how many milliseconds each bucket is full again, counted for all nodes. */
export type Tally = (taken: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>

export class TokenBuckets {
  /** Time in which one token refills; 0 is no limit. */
  readonly #costMs: number
  readonly #now: () => number
  /** In the order of their last use, the least recently used first. */
  readonly #buckets = new Map<string, Bucket>()

  /** `perSecond` 0 is no limit; `now` is a monotonic clock in milliseconds. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#costMs = perSecond === 0 ? 0 : 1000 / perSecond
    this.#now = now
  }

  /** Takes a token and returns 0, or takes none and returns the seconds until there is one. */
  take(name: string): number {
    if (this.#costMs === 0) return 0
    const now = this.#now()
    const bucket = this.#buckets.get(name) ?? { fullAt: now, unsharedMs: 0 }
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > maxNames) this.#forgetOldest()
    const fullAt = Math.max(now, bucket.fullAt) + this.#costMs
    const overMs = fullAt - now - burstMs
    if (overMs > 0) return Math.ceil(overMs / 1000)
    bucket.fullAt = fullAt
    bucket.unsharedMs += this.#costMs
    return 0
  }

  /** Adds the tokens taken here to the tally, and takes over those of other nodes. Rejects as `tally` does, and can be repeated. */
  async share(tally: Tally): Promise<void> {
    const taken = new Map<string, number>()
    for (const [name, bucket] of this.#buckets) {
      if (bucket.unsharedMs < leastSharedMs) continue
      taken.set(name, bucket.unsharedMs)
      bucket.unsharedMs = 0
      if (taken.size === maxSharedNames) break
    }
    if (taken.size === 0) return
    try {
      for (const [name, fullInMs] of await tally(taken)) {
        const bucket = this.#buckets.get(name)
        if (bucket !== undefined) bucket.fullAt = this.#now() + fullInMs + bucket.unsharedMs
      }
    } catch (error) {
      for (const [name, ms] of taken) {
        const bucket = this.#buckets.get(name)
        if (bucket !== undefined) bucket.unsharedMs += ms
      }
      throw error
    }
  }

  #forgetOldest(): void {
    for (const name of this.#buckets.keys()) {
      this.#buckets.delete(name)
      return
    }
  }
}
