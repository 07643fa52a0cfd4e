// Tag that tells two contents of one document apart: size and modification time, exact to the nanosecond.

import type { Attributes, Time } from '../fs/operations.ts'

export function entityTag({ size, mtime }: Attributes): string {
  return `"${size.toString(36)}-${mtime.sec.toString(36)}-${mtime.nsec.toString(36)}"`
}

/** Whole seconds, as HTTP writes them. */
export function httpDate(time: Time): string {
  return dateOf(time).toUTCString()
}

/** Whole seconds, as XML writes them. */
export function isoDate(time: Time): string {
  return dateOf(time).toISOString()
}

/** How far from 1970 a Date goes; a file's time may be any number of seconds. */
const furthestMs = 8.64e15

function dateOf({ sec }: Time): Date {
  return new Date(Math.max(-furthestMs, Math.min(furthestMs, sec * 1000)))
}
