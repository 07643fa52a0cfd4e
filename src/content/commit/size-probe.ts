// Sizes and kinds of content that the service has accepted from here so far. Only such content is sent together with, or
// after, the DELETE of the version it replaces; other content is sent first, while the old version still stands.

import { ApiError } from '../../api/errors.ts'
import type { Digest } from '../digest.ts'
import type { Intention } from '../intention.ts'

/** Accepted by any service and any proxy before it: in base64 this is less than 1 MB, the default limit of nginx. */
const usualBytes = 512 * 1024

export class SizeProbe {
  /** Largest size known to be accepted. */
  #bytes = usualBytes
  #refusedBytes = Infinity
  /** True once a copy within the service succeeded. */
  #takesCopies = false
  /** Paths where the last save was refused. */
  readonly #refused = new Set<string>()

  /** True where there is no sign that the service may refuse the content. */
  covers({ path, spool, size }: Intention): boolean {
    if (this.#refused.has(path)) return false
    return (size ?? Infinity) <= this.#bytes || (spool === undefined && this.#takesCopies)
  }

  /** Smallest size that was refused for its size, while no document so large was accepted since (bytes); Infinity if none. */
  get refusedBytes(): number {
    return this.#refusedBytes
  }

  /** Called when the service has stored the content. `sent`: the bytes that went through this machine. */
  took({ path, spool }: Intention, sent: Digest | undefined): void {
    this.#refused.delete(path)
    if (sent !== undefined) this.#took(sent.size)
    else if (spool === undefined) this.#takesCopies = true
  }

  /** Called when the content was found stored, by an attempt whose answer was lost. */
  found({ path, spool, size = 0 }: Intention): void {
    this.#refused.delete(path)
    if (spool !== undefined) this.#took(size)
  }

  #took(size: number): void {
    this.#bytes = Math.max(this.#bytes, size)
    if (size >= this.#refusedBytes) this.#refusedBytes = Infinity
  }

  refused({ path, size }: Intention, error: ApiError): void {
    this.#refused.add(path)
    if (error.status !== 413 || size === undefined) return
    this.#bytes = Math.min(this.#bytes, size - 1)
    this.#refusedBytes = Math.min(this.#refusedBytes, size)
  }
}

/**
 * True if the service, or a proxy before it, refuses to store this, and has stored nothing. A refused key (401), a
 * taken name (409) and timeouts or rate limits (408, 429) are not such refusals.
 */
export function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.method !== 'PUT') return false
  const { status } = error
  return isFull(error) || (status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status))
}

/** True if the service has no space for it, at least while the old version is there. */
export function isFull(error: unknown): boolean {
  return error instanceof ApiError && error.method === 'PUT' && error.status === 507
}
