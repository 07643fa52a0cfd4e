// Entity tags and dates. A tag consists of size and modification time (ns), which differ for two contents of one document.

import type { Attributes, Time } from '../fs/operations.ts'

export function entityTag({ size, mtime }: Attributes): string {
  return `"${size.toString(36)}-${mtime.sec.toString(36)}-${mtime.nsec.toString(36)}"`
}

/** Returns an HTTP date (whole seconds). */
export function httpDate(time: Time): string {
  return dateOf(time).toUTCString()
}

/** Returns an ISO 8601 date (whole seconds). */
export function isoDate(time: Time): string {
  return dateOf(time).toISOString()
}

/** Limit of a JavaScript Date, before and after 1970; a file's time may lie beyond. */
const furthestMs = 8.64e15

function dateOf({ sec }: Time): Date {
  return new Date(Math.max(-furthestMs, Math.min(furthestMs, sec * 1000)))
}
