// Content that the service has taken from here so far. Only content like that goes out together with, or behind, the
// DELETE of what it replaces; for the rest the service is asked first, while the old version still stands.

import { ApiError } from '../../api/errors.ts'
import type { Digest } from '../digest.ts'
import type { Intention } from '../intention.ts'

/** Taken by any service and by what stands before it: in base64 this is less than the 1 MB that nginx allows where nobody says more. */
const usualBytes = 512 * 1024

export class SizeProbe {
  #bytes = usualBytes
  #refusedBytes = Infinity
  /** Copies within the service. */
  #takesCopies = false
  /** Paths where the last save was refused. */
  readonly #refused = new Set<string>()

  /** True where nothing tells that the service may refuse it. */
  covers({ path, spool, size }: Intention): boolean {
    if (this.#refused.has(path)) return false
    return (size ?? Infinity) <= this.#bytes || (spool === undefined && this.#takesCopies)
  }

  /** Documents of so many bytes were refused for their size, and none so large was taken since. */
  get refusedBytes(): number {
    return this.#refusedBytes
  }

  /** `sent`: the bytes that went through this machine. */
  took({ path, spool }: Intention, sent: Digest | undefined): void {
    this.#refused.delete(path)
    if (sent !== undefined) this.#took(sent.size)
    else if (spool === undefined) this.#takesCopies = true
  }

  /** It stands there, by an attempt whose answer was lost. */
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
 * True if the service, or what stands before it, refuses to store this, and has stored nothing. A refused key, a name
 * that is taken, and haste are other matters.
 */
export function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.method !== 'PUT') return false
  const { status } = error
  return isFull(error) || (status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status))
}

/** There is no room for it, at least while the old version takes some. */
export function isFull(error: unknown): boolean {
  return error instanceof ApiError && error.method === 'PUT' && error.status === 507
}
