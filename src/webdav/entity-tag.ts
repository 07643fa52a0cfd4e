// What tells two contents of one document apart: size and modification time, exact to the nanosecond.

import type { Attributes, Time } from '../fs/operations.ts'

export function entityTag({ size, mtime }: Attributes): string {
  return `"${size.toString(36)}-${mtime.sec.toString(36)}-${mtime.nsec.toString(36)}"`
}

/** Whole seconds, as HTTP writes them. */
export function httpDate({ sec }: Time): string {
  return new Date(sec * 1000).toUTCString()
}
