// Requests a second, counted per name: so many may come at once, and as many come again in ten seconds. A bucket is kept as
// the time at which it will be full again. Where nodes count together, each one gives out from a copy, and the tally of
// all of them corrects it.

const burstMs = 10_000
const maxNames = 10_000
/** Less than a hundredth of what a second allows is kept for the next time. */
const leastSharedMs = 10
const maxSharedNames = 1_000

interface Bucket {
  fullAt: number
  /** The requests taken and not told to the tally yet, as the time they take to come again. */
  unsharedMs: number
}

/** Adds what was taken, by name, and answers after how long each of them is full again: for all nodes together. Milliseconds. */
export type Tally = (taken: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>

export class TokenBuckets {
  /** In which one comes again; 0 is no limit. */
  readonly #costMs: number
  readonly #now: () => number
  /** The least lately used first. */
  readonly #buckets = new Map<string, Bucket>()

  /** `perSecond` 0 is no limit; `now` in milliseconds, never back. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#costMs = perSecond === 0 ? 0 : 1000 / perSecond
    this.#now = now
  }

  /** Takes one; else answers after how many seconds there is one. */
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

  /** Tells what was taken here, and takes over what others took. Rejects as `tally` does; the next one tells it then. */
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
