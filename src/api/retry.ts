// When a call is made again, and how long to wait first. The only place that repeats a request.

import { doublingMs } from '../backoff.ts'
import { ApiError, NetworkError } from './errors.ts'

/**
 * - `freely`: the call may be carried out twice (GET, DELETE).
 * - `if-not-stored`: only when the service cannot have carried it out (PUT, POST): no connection, or 429. Never 409,
 *   which is an answer.
 */
export type Repeatable = 'freely' | 'if-not-stored'

/** True when the same call is worth making again after this error. */
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
 * Milliseconds before the attempt after `attempt`: what the service asked for, else doubling with jitter. A service that is only
 * away is looked for while there is time (`remainingMs`), however long it said it would be: it rarely knows. Its word stands
 * where it counts our calls (429).
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

/** Milliseconds in a Retry-After header (RFC 9110, 10.2.3): seconds or a date. Undefined where it says nothing. */
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
  /** Told before each wait. */
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
