// Which failures pass by themselves, and how long to wait before trying again.

import type { Chance } from '../../world/chance.ts'
import { ApiError, ContentError, isTemporary } from '../../api/errors.ts'
import { doublingMs } from '../../backoff.ts'
import { ErrnoError } from '../../errno-error.ts'

const delays = { firstMs: 500, longestMs: 60_000 }
/** A service that asks for more is asked again after an hour. */
const longestAskedMs = 3_600_000
/** Every rest before a first attempt is shorter. */
const longestRestMs = 60_000

/** True when the same intention may succeed later with nothing changed: it is tried again for as long as it takes. */
export function isWorthRetrying(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.method === 'GET' || isNoVerdict(error.status) || isTemporary(error)
  if (error instanceof ErrnoError && error.code === 'ESTALE') return true
  return isTemporary(error) || isLocalTrouble(error)
}

/**
 * Only the answer to a change (PUT, DELETE) is a refusal of it, and of those, what judges the document. The caller
 * (401, 403: a key to be renewed, a gateway that is not ready) and the state of the path just now (409: also what we
 * deleted ourselves, and what does not show yet) are other matters.
 */
function isNoVerdict(status: number): boolean {
  return status === 401 || status === 403 || status === 409
}

/** A full disk may be emptied, one that was made read-only may be written again: not the document's fault. */
function isLocalTrouble(error: unknown): boolean {
  if (error instanceof ContentError) return true
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  // A DOMException's code is a number.
  if (typeof code === 'string' && code.startsWith('SQLITE_')) return true
  // An error of the system about a file here, but not that it is gone.
  if (syscall !== undefined && code !== 'ENOENT') return true
  return (
    code === 'ENOSPC' ||
    code === 'EMFILE' ||
    code === 'EIO' ||
    (error as Error | undefined)?.name === 'AbortError'
  )
}

/** Milliseconds until the next attempt: doubling with chance, up to a minute; longer where the service asked for it, up to an hour. */
export function backoffMs(attempts: number, error: unknown, chance: Chance): number {
  const ownMs = doublingMs(attempts, delays, () => chance.random())
  const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(ownMs, Math.min(askedMs, longestAskedMs))
}

/** No intention that was tried so often ever waits longer than this (ms). */
export function longestWaitMs(attempts: number): number {
  return attempts === 0 ? longestRestMs : longestAskedMs
}
