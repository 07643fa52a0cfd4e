// The drive in a simulated world. More of it, and a failing seed cut down to its shortest history: scripts/simulate.

import { expect, it } from 'vitest'
import { failedHistories, isLong, loseNothing, worldsOfFile } from './histories.ts'

const run = worldsOfFile()

it('one seed gives one history, byte for byte', async () => {
  const world = { seed: 5, steps: 200 }
  const [one, other] = [await run(world), await run(world)]
  expect(one.operations).toBeGreaterThan(50)
  expect(other).toEqual(one)
})

// Each is a world of its own: a few of them show what a change broke widely.
loseNothing(
  run,
  failedHistories.filter((history, index) => index % 40 === 0 && !isLong(history)),
)
