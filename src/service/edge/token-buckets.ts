// Requests a second, counted per name: so many may come at once, and as many come again in ten seconds.

const burstSeconds = 10
const maxNames = 10_000

interface Bucket {
  tokens: number
  at: number
}

export class TokenBuckets {
  readonly #perSecond: number
  readonly #now: () => number
  /** The least lately used first. */
  readonly #buckets = new Map<string, Bucket>()

  /** `perSecond` 0 is no limit; `now` in milliseconds, never back. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond
    this.#now = now
  }

  /** Takes one; else answers after how many seconds there is one. */
  take(name: string): number {
    if (this.#perSecond === 0) return 0
    const now = this.#now()
    const full = this.#perSecond * burstSeconds
    const bucket = this.#buckets.get(name) ?? { tokens: full, at: now }
    bucket.tokens = Math.min(full, bucket.tokens + ((now - bucket.at) / 1000) * this.#perSecond)
    bucket.at = now
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > maxNames) this.#forgetOldest()
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.#perSecond)
    bucket.tokens--
    return 0
  }

  #forgetOldest(): void {
    for (const name of this.#buckets.keys()) {
      this.#buckets.delete(name)
      return
    }
  }
}
