// Waits for the service go by a clock that nobody sets.

import { expect, it } from 'vitest'
import { createClock } from '../../../src/world/clock.ts'
import { realWorld, type World } from '../../../src/world/world.ts'
import { openHeld } from '../../support/open-held.ts'

const hourMs = 3_600_000

it('a wall clock that is set ahead ends no drain', async () => {
  let setMs = 0
  const world: World = { ...realWorld(), clock: createClock(() => Date.now() + setMs) }
  await using drive = await openHeld({}, { closeWaitMs: 0, world })
  drive.hold('/a.txt')
  await drive.calls().writeFile('/a.txt', 'saved')
  let looks = 0
  const drained = drive.fileSystem().drain({ timeoutMs: hourMs / 2, onProgress: () => looks++ })
  await drive.reached('/a.txt')
  setMs = hourMs
  const before = looks
  await expect.poll(() => looks).toBeGreaterThan(before)
  drive.release()
  expect(await drained).toEqual([])
})
