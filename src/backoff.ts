// How long to wait before something that failed is tried again.

export interface BackoffLimits {
  readonly firstMs: number
  readonly longestMs: number
}

/** Returns the wait in milliseconds after `attempts` failures (at least 1): doubled each time, up to `longestMs`. */
export function doubledMs(attempts: number, limits: BackoffLimits): number {
  return Math.min(limits.longestMs, limits.firstMs * 2 ** (attempts - 1))
}

/** Returns `doubledMs` with jitter: between half and all of it, so that many clients do not retry at the same moment. */
export function doublingMs(attempts: number, limits: BackoffLimits, random: () => number): number {
  const full = doubledMs(attempts, limits)
  return full / 2 + (full / 2) * random()
}
