// Two clocks: one that people set, one that measures.

import { describe, expect, it } from 'vitest'
import { createClock } from '../../src/world/clock.ts'

function handSet(): { wall: number; monotonic: number; clock: ReturnType<typeof createClock> } {
  const times = { wall: 1_700_000_000_000, monotonic: 5_000 }
  return Object.assign(times, {
    clock: createClock(
      () => times.wall,
      () => times.monotonic,
    ),
  })
}

/** Time goes by, as on a machine whose clocks are in order. */
function pass(times: { wall: number; monotonic: number }, ms: number): void {
  times.wall += ms
  times.monotonic += ms
}

const hourMs = 3_600_000

describe('clock', () => {
  it('begins at wall time and grows with it', () => {
    const times = handSet()
    expect(times.clock.steady()).toBe(times.wall)
    pass(times, 1_234)
    expect(times.clock.steady()).toBe(times.wall)
  })

  it('measures on while the wall clock is set back', () => {
    const times = handSet()
    const begun = times.clock.steady()
    times.wall -= 6 * hourMs
    pass(times, 10_000)
    expect(times.clock.steady() - begun).toBe(10_000)
    expect(times.clock.wall()).toBe(times.wall)
  })

  it('counts the time the machine slept, when only the wall clock went on', () => {
    const times = handSet()
    const begun = times.clock.steady()
    times.wall += 8 * hourMs
    expect(times.clock.steady() - begun).toBe(8 * hourMs)
    times.wall -= 8 * hourMs
    pass(times, 1_000)
    expect(times.clock.steady() - begun).toBe(8 * hourMs + 1_000)
  })

  it('never goes back, whatever becomes of the wall clock', () => {
    const times = handSet()
    let before = times.clock.steady()
    for (const step of [3, -7_200_000, 12, 900, -900, 5_000_000, -1, 999, -999]) {
      times.wall += step
      pass(times, 1)
      const now = times.clock.steady()
      expect(now).toBeGreaterThan(before)
      before = now
    }
  })
})
