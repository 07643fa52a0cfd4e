// How long a close waits, and what it does not wait for.

import { expect, it } from 'vitest'
import type { Clock } from '../../../src/world/clock.ts'
import { realWorld, type World } from '../../../src/world/world.ts'
import { openHeld } from '../../support/open-held.ts'

it('a close does not wait for what is written again meanwhile: that may wait for the close', async () => {
  await using drive = await openHeld({}, { closeWaitMs: Infinity })
  const file = await drive.calls().open('/a.txt', 'w')
  await file.write('accepted', 0)
  drive.hold('/a.txt')
  const closing = file.close()
  await drive.reached('/a.txt')
  await drive.calls().truncate('/a.txt', 3)
  drive.release()
  await closing
  await drive.drain()
  expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe('acc')
})

it('a rename that waits for a file to which nothing was written does not wait for its rest', async () => {
  let isStopped = false
  const { clock, ...rest } = realWorld()
  const setTimeout: Clock['setTimeout'] = (run, ms) => clock.setTimeout(run, isStopped ? 3_600_000 : ms)
  const world: World = { ...rest, clock: { ...clock, setTimeout } }
  await using drive = await openHeld({}, { closeWaitMs: Infinity, world })
  const calls = drive.calls()
  await calls.mkdir('/folder')
  // No rest is ever over.
  isStopped = true
  for (const name of ['a.txt', 'folder/b.txt']) await (await calls.open(`/${name}`, 'w')).close()
  await calls.rename('/a.txt', '/c.txt')
  await calls.rename('/folder', '/other')
  expect(
    [...((await drive.testService.other.documents('/')) ?? [])].map(([name]) => name).toSorted(),
  ).toEqual(['c.txt', 'other/b.txt'])
  isStopped = false
})
