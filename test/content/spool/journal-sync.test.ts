// A change is on disk within a second, also where no caller asks for it.

import { realWorld } from '../../../src/world/world.ts'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { GroupSync } from '../../../src/content/spool/group-sync.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { forgetfulDisk } from '../../support/forgetful-disk.ts'

let dir: string
let journal: Journal

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'journal-sync-'))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  journal = new Journal(dir, realWorld())
})

afterEach(() => {
  journal.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
  rmSync(dir, { recursive: true })
})

it('writes are synced once a second while there are any, and never without', () => {
  vi.advanceTimersByTime(10_000)
  const synced = vi.spyOn(GroupSync.prototype, 'run')
  vi.advanceTimersByTime(10_000)
  expect(synced).toHaveBeenCalledTimes(0)
  for (let n = 0; n < 10; n++) journal.folders.save(`/${n}`)
  vi.advanceTimersByTime(999)
  expect(synced).toHaveBeenCalledTimes(0)
  vi.advanceTimersByTime(1)
  expect(synced).toHaveBeenCalledTimes(1)
  journal.folders.remove('/1')
  vi.advanceTimersByTime(10_000)
  expect(synced).toHaveBeenCalledTimes(2)
})

it('a disk that fails once is asked again', async () => {
  let syncs = 0
  const { disk, ...others } = realWorld()
  const fdatasync: typeof disk.fdatasync = (fd) =>
    ++syncs === 1 ? Promise.reject(new Error('EIO')) : disk.fdatasync(fd)
  journal.close()
  journal = new Journal(dir, { ...others, disk: { ...disk, fdatasync } })
  let isDurable = false
  journal.folders.save('/a')
  journal.onceDurable(() => (isDurable = true))
  await vi.advanceTimersByTimeAsync(1_000)
  expect([syncs, isDurable]).toEqual([1, false])
  await vi.advanceTimersByTimeAsync(1_000)
  await vi.waitUntil(() => isDurable)
  expect(syncs).toBe(2)
})

it('what a failed sync lost of the log is written again before the next one is believed', async () => {
  const disk = forgetfulDisk(16 * 1024 ** 2)
  journal.close()
  journal = new Journal(dir, { ...realWorld(), disk })
  journal.folders.save('/a')
  disk.refusals = 1
  await expect(journal.durable()).rejects.toThrow('EIO')
  await journal.durable()
  const log = readFileSync(join(dir, 'journal.db-wal'))
  expect(disk.kept.subarray(0, log.length).equals(log)).toBe(true)
})

it('content nobody needs any more goes with the next content that is journaled, within a second, or at the end', async () => {
  const ids = (): string[] => journal.contents.all().map(({ spool }) => spool)
  for (const id of ['a', 'b', 'c']) journal.contents.save(id, Buffer.from(id))
  await journal.durable()
  journal.contents.forget('a')
  expect(ids()).toEqual(['a', 'b', 'c'])
  expect(() =>
    journal.transaction(() => {
      journal.contents.save('d', Buffer.from('d'))
      expect(ids()).toEqual(['b', 'c', 'd'])
      throw new Error('a full disk')
    }),
  ).toThrow('a full disk')
  expect(ids()).toEqual(['a', 'b', 'c'])
  journal.contents.save('d', Buffer.from('d'))
  expect(ids()).toEqual(['b', 'c', 'd'])
  journal.contents.forget('b')
  vi.advanceTimersByTime(1_000)
  expect(ids()).toEqual(['c', 'd'])
  journal.contents.forget('c')
  journal.close()
  journal = new Journal(dir, realWorld())
  expect(ids()).toEqual(['d'])
})

it('content that is journaled takes the place of content nobody needs any more: no page is given back and taken again', () => {
  const frames = (): number => readFileSync(join(dir, 'journal.db-shm')).readUInt32LE(16)
  const rows = (): [string, string][] =>
    journal.contents.all().map(({ spool, bytes }) => [spool, Buffer.from(bytes).toString('latin1', 0, 1)])
  const save = (id: string, bytes = 2_000): void => journal.contents.save(id, Buffer.alloc(bytes, id))
  for (const id of ['a', 'b']) save(id)
  journal.contents.forget('a')
  const before = frames()
  save('c')
  // The page it lies on, and the index.
  expect(frames() - before).toBe(2)
  expect(rows()).toEqual([
    ['b', 'b'],
    ['c', 'c'],
  ])
  // Content that is saved again is needed again, and stays; no other has its place.
  journal.contents.forget('b')
  journal.contents.forget('c')
  save('c', 100)
  expect(rows()).toEqual([['c', 'c']])
  // Content that was removed otherwise has left no place.
  journal.contents.forget('c')
  journal.contents.remove('c')
  save('d', 9_000)
  expect(rows()).toEqual([['d', 'd']])
})

it('what a sync has covered is not synced again', async () => {
  let syncs = 0
  const { disk, ...others } = realWorld()
  const fdatasync: typeof disk.fdatasync = (fd) => {
    syncs++
    return disk.fdatasync(fd)
  }
  journal.close()
  journal = new Journal(dir, { ...others, disk: { ...disk, fdatasync } })
  journal.folders.save('/a')
  await journal.durable()
  await journal.durable()
  expect(syncs).toBe(1)
  journal.folders.save('/b')
  const first = journal.durable()
  // Too late for the sync that is under way.
  journal.folders.save('/c')
  await Promise.all([first, journal.durable()])
  expect(syncs).toBe(3)
  await journal.durable()
  expect(syncs).toBe(3)
})
