// How long to wait before something that failed is tried again.

export interface BackoffLimits {
  readonly firstMs: number
  readonly longestMs: number
}

/** Milliseconds after so many attempts (from 1): doubling up to the longest. */
export function doubledMs(attempts: number, limits: BackoffLimits): number {
  return Math.min(limits.longestMs, limits.firstMs * 2 ** (attempts - 1))
}

/** The same, half of it by chance, so that many do not come at once. */
export function doublingMs(attempts: number, limits: BackoffLimits, random: () => number): number {
  const full = doubledMs(attempts, limits)
  return full / 2 + (full / 2) * random()
}
