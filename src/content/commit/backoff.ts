// Failures worth another attempt, and how long to wait before it.

import type { Chance } from '../../world/chance.ts'
import { ApiError, ContentError, isTemporary } from '../../api/errors.ts'
import { doublingMs } from '../../backoff.ts'
import { ErrnoError } from '../../errno-error.ts'

const delays = { firstMs: 500, longestMs: 60_000 }
/** Longest wait that the service can ask for (ms). */
const longestAskedMs = 3_600_000
/** Upper bound of the delays before a first attempt (ms). */
const longestRestMs = 60_000

/** True where the same intention may succeed later with nothing changed: it is tried again until it does. */
export function isWorthRetrying(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.method === 'GET' || isNoVerdict(error.status) || isTemporary(error)
  if (error instanceof ErrnoError && error.code === 'ESTALE') return true
  return isTemporary(error) || isLocalTrouble(error)
}

/**
 * True for answers that say nothing about the document itself, and so are no refusals: about the caller (401, 403: a key
 * to be renewed, a gateway that is not ready) or about the path just now (409: there may still be a document that we
 * deleted, or one that is not listed yet).
 */
function isNoVerdict(status: number): boolean {
  return status === 401 || status === 403 || status === 409
}

/** True for errors of this machine, which may pass: a full disk can be emptied, a read-only one can become writable. */
function isLocalTrouble(error: unknown): boolean {
  if (error instanceof ContentError) return true
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException
  // A DOMException's code is a number.
  if (typeof code === 'string' && code.startsWith('SQLITE_')) return true
  // A system call failed on a local file, for another reason than that the file is gone.
  if (syscall !== undefined && code !== 'ENOENT') return true
  // Our own errors have no `syscall`.
  return (
    code === 'ENOSPC' ||
    code === 'EMFILE' ||
    code === 'EIO' ||
    (error as Error | undefined)?.name === 'AbortError'
  )
}

/** Milliseconds until the next attempt: doubling, with jitter, up to a minute; up to an hour where the service asks for it. */
export function backoffMs(attempts: number, error: unknown, chance: Chance): number {
  const ownMs = doublingMs(attempts, delays, () => chance.random())
  const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(ownMs, Math.min(askedMs, longestAskedMs))
}

/** Upper bound of the wait after so many attempts (ms): no longer one is believed after a restart. */
export function longestWaitMs(attempts: number): number {
  return attempts === 0 ? longestRestMs : longestAskedMs
}
