// The room that `df` shows is the room that saved documents have here, and no other figure is made up.

import { realWorld } from '../../../src/world/world.ts'
import { statfsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { statfsOf } from '../../../src/fs/calls/statfs.ts'

const world = realWorld()

it('is that of the disk of the state folder, all of it free', () => {
  const { blocks, blocksFree, blockSizeBytes } = statfsOf('/tmp', world)()
  expect(blocks).toBe(blocksFree)
  const { bavail, bsize } = statfsSync('/tmp')
  // Others write there too.
  expect(Math.abs(blocksFree * blockSizeBytes - bavail * bsize)).toBeLessThan(2 ** 34)
})

it('what is only cached on the same disk counts as room: it goes before anything is refused', () => {
  const givable = 2 ** 50
  const [alone, beside] = [statfsOf('/tmp', world)(), statfsOf('/tmp', world, () => givable)()]
  const more = (beside.blocksFree - alone.blocksFree) * alone.blockSizeBytes
  expect(Math.abs(more - givable)).toBeLessThan(2 ** 34)
})

it('is enough where the disk does not tell', () => {
  expect(statfsOf('/nowhere', world)().blocksFree).toBeGreaterThan(0)
})
