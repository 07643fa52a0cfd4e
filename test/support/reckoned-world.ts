// A world whose monotonic clock advances only by fired timeouts, each by its own duration. So tests can measure intended waits
// exactly, however slow the machine is.

import { createClock, type Timer } from '../../src/world/clock.ts'
import { realWorld, type World } from '../../src/world/world.ts'

/** Returns the world; timeouts still take real time. */
export function reckonedWorld(): World {
  const world = realWorld()
  const timers = world.clock
  let now = timers.monotonic()
  const inner = new WeakMap<Timer, Timer>()
  const setTimeout = (run: () => void, ms: number): Timer => {
    let dueAt = now + ms
    const waiting = timers.setTimeout(() => {
      now = Math.max(now, dueAt)
      run()
    }, ms)
    const timer: Timer = {
      unref() {
        waiting.unref()
        return timer
      },
      refresh() {
        dueAt = now + ms
        waiting.refresh()
        return timer
      },
    }
    inner.set(timer, waiting)
    return timer
  }
  const clear = (timer: Timer | undefined): void =>
    timers.clear(timer === undefined ? undefined : (inner.get(timer) ?? timer))
  return { ...world, clock: createClock(Date.now, () => now, { ...timers, setTimeout, clear }) }
}
