// Retries of calls: when, and after how long. No other file repeats a request.

import { doublingMs } from '../backoff.ts'
import { ApiError, NetworkError } from './errors.ts'

/**
 * - `freely`: the call may be carried out twice (GET, DELETE).
 * - `if-not-stored`: repeated only if the service cannot have carried it out (PUT, POST): no connection, or 429. A 409 is
 *   never repeated.
 */
export type Repeatable = 'freely' | 'if-not-stored'

/** True if the same call may be repeated after this error. */
export function mayRepeat(error: unknown, repeatable: Repeatable): boolean {
  if (error instanceof NetworkError) {
    return error.kind === 'unreachable' || (error.kind === 'cut' && repeatable === 'freely')
  }
  if (!(error instanceof ApiError)) return false
  if (error.status === 429) return true
  return repeatable === 'freely' && (error.status === 408 || (error.status >= 500 && error.status !== 501))
}

const delays = { firstMs: 200, longestMs: 5_000 }

/**
 * Returns the milliseconds to wait after attempt number `attempt`: the service's Retry-After, else doubling with jitter.
 * A Retry-After that exceeds `remainingMs` is ignored, since an unavailable service rarely knows how long it will take; but not
 * that of a 429, which counts our calls.
 */
export function delayMsAfter(
  attempt: number,
  error: unknown,
  random: () => number,
  remainingMs: number = Infinity,
): number {
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined
  const isCounting = error instanceof ApiError && error.status === 429
  if (asked !== undefined && (isCounting || asked < remainingMs)) return asked
  return doublingMs(attempt, delays, random)
}

/** Returns the milliseconds of a Retry-After header (RFC 9110, 10.2.3: seconds or a date); undefined if missing or invalid. */
export function retryAfterMsOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}

export interface RetryPolicy {
  readonly repeatable: Repeatable
  readonly attempts: number
  /** Milliseconds left for the whole call: a wait that does not fit is not begun. */
  remainingMs(): number
  sleep(ms: number): Promise<void>
  readonly random: () => number
  /** Called before each wait. */
  onRetry(error: unknown, attempt: number, delayMs: number): void
}

/** Runs `attempt` (counted from 1) until it succeeds, may not be repeated, or neither attempts nor time are left. */
export async function withRetry<T>(policy: RetryPolicy, attempt: (count: number) => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt(count)
    } catch (error) {
      if (count >= policy.attempts || !mayRepeat(error, policy.repeatable)) throw error
      const delayMs = delayMsAfter(count, error, policy.random, policy.remainingMs())
      if (delayMs >= policy.remainingMs()) throw error
      policy.onRetry(error, count, delayMs)
      await policy.sleep(delayMs)
    }
  }
}
