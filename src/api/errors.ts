// Errors that the client throws. They never speak errno: `fs/errno-of.ts` translates. One message format:
// `PUT /reports/a.pdf: 409 file exists`. Never a key, never a URL with a signature.

import { printable } from '../printable.ts'
import { NetworkError, type CallDescription } from '../world/network-error.ts'

export { NetworkError } from '../world/network-error.ts'
export type { CallDescription, NetworkErrorKind } from '../world/network-error.ts'

/** The service answered with a status that is not success. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly method: string
  readonly path: string
  readonly status: number
  /** The service's own words (interface, "Error"), or the status text where it sent none. */
  readonly errorMessage: string
  /** From Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** False where the body is not the service's JSON: a gateway or a captive portal may speak for it. */
  readonly isServices: boolean

  constructor(
    call: CallDescription,
    status: number,
    errorMessage: string,
    retryAfterMs?: number,
    isServices = true,
  ) {
    super(printable(`${call.method} ${call.path}: ${status} ${errorMessage}`))
    this.method = call.method
    this.path = call.path
    this.status = status
    this.errorMessage = printable(errorMessage)
    this.retryAfterMs = retryAfterMs
    this.isServices = isServices
  }
}

/** The caller asked for what no request may hold: a path with "..", a name that is no name, a key of two lines. */
export class InputError extends TypeError {
  override readonly name = 'InputError'
}

/** The source of an upload gave more or fewer bytes than were to be sent. The service has stored nothing. */
export class ContentError extends Error {
  override readonly name = 'ContentError'
  readonly method: string
  readonly path: string

  constructor(call: CallDescription, detail: string) {
    super(printable(`${call.method} ${call.path}: ${detail}`))
    this.method = call.method
    this.path = call.path
  }
}

/** Taken, and not carried out yet (202): it may be at any time. */
export function isOnlyAccepted(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 202
}

/**
 * True when the service refuses a path for how deep it is. There is no status of its own for that, so the service's words have to
 * say both: "the path is more than 64 names deep".
 */
export function isTooDeep(error: unknown): boolean {
  if (!(error instanceof ApiError) || !error.isServices || (error.status !== 400 && error.status !== 422))
    return false
  return /\bpath\b/i.test(error.errorMessage) && /\b(?:deep|depth|levels|nested)/i.test(error.errorMessage)
}

/** True when the service may have carried the call out although we saw no success. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || isOnlyAccepted(error)
  if (error instanceof NetworkError) return error.kind !== 'unreachable' && error.kind !== 'away'
  return !(error instanceof ContentError || error instanceof InputError)
}

/** True when the same call may succeed later with nothing changed: no connection, deadline, 202, 408, 429, 5xx. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof NetworkError || isOnlyAccepted(error)) return true
  return error instanceof ApiError && (error.status === 408 || error.status === 429 || error.status >= 500)
}
