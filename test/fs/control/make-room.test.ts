// Content that is only cached makes room for what is unsent, where both are on one disk.

import { expect, it } from 'vitest'
import { givableBytes, makeRoom } from '../../../src/fs/control/make-room.ts'
import { systemDisk } from '../../../src/world/disk.ts'
import { openParts, type OpenParts } from '../../support/open-parts.ts'

async function withSomethingCached(): Promise<OpenParts> {
  const parts = await openParts({ '/given.txt': 'given '.repeat(1_000) })
  await parts.calls.readFile('/given.txt')
  await expect.poll(() => givableBytes(parts.sb)).toBeGreaterThan(0)
  return parts
}

it('is what the cache has, and no more', async () => {
  await using parts = await withSomethingCached()
  expect(await makeRoom(parts.sb)).toBe(true)
  expect([givableBytes(parts.sb), await makeRoom(parts.sb)]).toEqual([0, false])
})

it('is none on another disk, or where the disk does not tell', async () => {
  await using parts = await withSomethingCached()
  const { settings } = parts.sb
  const disk = {
    ...systemDisk,
    statSync: (path: string) => {
      const told = systemDisk.statSync(path)
      return path === settings.cacheDir ? Object.assign(told, { dev: told.dev + 1 }) : told
    },
  }
  const nowhere = { ...settings, stateDir: '/nowhere' }
  for (const elsewhere of [
    { ...parts.sb, disk },
    { ...parts.sb, settings: nowhere },
  ])
    expect([givableBytes(elsewhere), await makeRoom(elsewhere)]).toEqual([0, false])
  expect(givableBytes(parts.sb)).toBeGreaterThan(0)
})
