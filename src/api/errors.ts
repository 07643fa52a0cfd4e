// Errors that the client throws; `fs/errno-of.ts` translates them into errnos. Format of their messages:
// `PUT /reports/a.pdf: 409 file exists`. They contain no key and no presigned URL.

import { ExpectedError } from '../expected-error.ts'
import { printable } from '../printable.ts'
import { NetworkError, type CallDescription } from '../world/network-error.ts'

export { NetworkError } from '../world/network-error.ts'
export type { CallDescription, NetworkErrorKind } from '../world/network-error.ts'

/** An HTTP status that is no success. */
export class ApiError extends ExpectedError {
  override readonly name = 'ApiError'
  readonly method: string
  readonly path: string
  readonly status: number
  /** The service's message (interface, "Error"), or a text for the status if it sent none. */
  readonly errorMessage: string
  /** From Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** False if the body is HTML: a gateway or a captive portal answered, not the service. */
  readonly isFromService: boolean
  /** 202, 408, 429 or 5xx. */
  override readonly isTemporary: boolean

  constructor(
    call: CallDescription,
    status: number,
    errorMessage: string,
    retryAfterMs?: number,
    isFromService = true,
  ) {
    super(printable(`${call.method} ${call.path}: ${status} ${errorMessage}`))
    this.method = call.method
    this.path = call.path
    this.status = status
    this.errorMessage = printable(errorMessage)
    this.retryAfterMs = retryAfterMs
    this.isFromService = isFromService
    this.isTemporary = [202, 408, 429].includes(status) || status >= 500
  }
}

/** An argument that no request may contain: a path with "..", an empty name, a key of two lines. */
export class InputError extends ExpectedError {
  override readonly name = 'InputError'
  override readonly isUsage = true
}

/** The source of an upload gave more or fewer bytes than announced. The service has stored nothing. */
export class ContentError extends ExpectedError {
  override readonly name = 'ContentError'
  readonly method: string
  readonly path: string

  constructor(call: CallDescription, detail: string) {
    super(printable(`${call.method} ${call.path}: ${detail}`))
    this.method = call.method
    this.path = call.path
  }
}

/** True for a 202: the service may carry the call out at any later time. */
export function isOnlyAccepted(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 202
}

/**
 * True when the service refuses a path because it is too deep. The interface has no status for that, so its message must contain
 * both words, as in "the path is more than 64 names deep".
 */
export function isTooDeep(error: unknown): boolean {
  if (!(error instanceof ApiError) || !error.isFromService || (error.status !== 400 && error.status !== 422))
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
  return (error instanceof NetworkError || error instanceof ApiError) && error.isTemporary
}
