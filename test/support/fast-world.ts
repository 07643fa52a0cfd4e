// A world in which time passes `factor` times as fast, so that tests need not wait for timeouts of seconds.

import { createClock } from '../../src/world/clock.ts'
import { realWorld, type World } from '../../src/world/world.ts'

export function fastWorld(factor: number): World {
  const world = realWorld()
  const timers = world.clock
  const clock = createClock(Date.now, () => performance.now() * factor, {
    setTimeout: (run, ms) => timers.setTimeout(run, ms / factor),
    setInterval: (run, ms) => timers.setInterval(run, ms / factor),
    setImmediate: (run) => timers.setImmediate(run),
    clear: (timer) => timers.clear(timer),
  })
  return { ...world, clock }
}
