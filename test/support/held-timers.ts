// A clock whose timeouts fire only when the test says so.

import { createClock, type Clock, type Timer } from '../../src/world/clock.ts'

export interface HeldTimers extends Clock {
  /** Number of pending timeouts. */
  readonly waiting: number
  /** Fires all pending timeouts. */
  fire(): void
}

export function heldTimers(): HeldTimers {
  const waiting = new Map<Timer, () => void>()
  return {
    ...createClock(),
    setTimeout(run) {
      const timer: Timer = { unref: () => timer, refresh: () => timer }
      waiting.set(timer, run)
      return timer
    },
    clear: (timer) => void (timer !== undefined && waiting.delete(timer)),
    fire() {
      const due = [...waiting.values()]
      waiting.clear()
      for (const run of due) run()
    },
    get waiting() {
      return waiting.size
    },
  }
}
