// Loaded before anything else by a process whose clock a test sets: `Date` is off by the milliseconds in the file that
// CLOCK_OFFSET_FILE names, in every thread. Timers and steady clocks are left alone, as they are when a real clock is
// set.

import { readFileSync } from 'node:fs'

const file = process.env['CLOCK_OFFSET_FILE']
const real = Date.now
const now = () => real() + Number(readFileSync(file, 'utf8'))

globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length === 0) super(now())
    else super(...parts)
  }
  static now() {
    return now()
  }
}
