// The store of former versions: its bounds, and what is left of it after a power cut, damage, and a disk that refuses.

import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { UndoStore, type FormerVersion, type ReadAll } from '../../../src/content/undo/undo-store.ts'
import { silentLog } from '../../../src/log.ts'
import { createClock } from '../../../src/world/clock.ts'
import { systemDisk, type Disk } from '../../../src/world/disk.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let temporary: TemporaryFolder
let nowMs: number
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  nowMs = 1_764_000_000_000
})
afterEach(() => temporary.remove())

const dayMs = 86_400_000
const mib = 1024 * 1024

function open(own: { sizeBytes?: number; ageMs?: number; disk?: Disk } = {}): UndoStore {
  const { sizeBytes, ageMs, disk } = { sizeBytes: 64 * mib, ageMs: 30 * dayMs, disk: systemDisk, ...own }
  const world = { clock: createClock(() => nowMs), disk }
  return new UndoStore({ dir: join(temporary.path, 'undo'), sizeBytes, ageMs, world, log: silentLog })
}

const bytesOf =
  (content: Buffer): ReadAll =>
  async (take) => {
    for (let at = 0; at < content.length; at += 128 * 1024)
      await take([content.subarray(at, at + 128 * 1024)])
    return true
  }

async function keep(store: UndoStore, path: string, content: Buffer): Promise<void> {
  await store.keep(
    { path, how: 'deleted', fingerprint: `${content.length}@2026-11-27T09:00:00.5Z` },
    bytesOf(content),
  )
  await store.durable()
}

async function contentOf(store: UndoStore, path: string): Promise<Buffer | undefined> {
  const version = (await store.list()).find((each) => each.path === path)
  return version === undefined ? undefined : bytesIn(store, version)
}

/** Of all versions that are named as kept. */
async function contents(store: UndoStore): Promise<Buffer[]> {
  const found: Buffer[] = []
  for (const version of await store.list())
    if (version.missing === undefined) found.push(await bytesIn(store, version))
  return found
}

async function bytesIn(store: UndoStore, version: FormerVersion): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of store.read(version)) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function onDisk(): Promise<number> {
  const dir = join(temporary.path, 'undo')
  let bytes = 0
  for (const name of await readdir(dir)) bytes += (await stat(join(dir, name))).size
  return bytes
}

it('what was kept is there after a restart, small and large', async () => {
  const [small, large] = [Buffer.from('small'), Buffer.alloc(3 * mib, 'large')]
  const first = open()
  await keep(first, '/small.txt', small)
  await keep(first, '/lärge\n.pdf', large)
  const again = open()
  expect(await contentOf(again, '/small.txt')).toEqual(small)
  expect((await contentOf(again, '/lärge\n.pdf'))?.equals(large)).toBe(true)
  await first.close()
  await again.close()
})

it('it never grows beyond its bound: the oldest go first', async () => {
  const store = open({ sizeBytes: 4 * mib })
  for (let at = 0; at < 300; at++) {
    await keep(store, `/${at}.txt`, Buffer.alloc(at % 3 === 0 ? 100_000 : 20_000, String(at)))
    nowMs += 1_000
    expect(await onDisk()).toBeLessThanOrEqual(4 * mib)
    expect(store.bytes).toBeGreaterThanOrEqual(await onDisk())
  }
  const left = (await store.list()).map(({ path }) => path)
  expect(left).toEqual(Array.from({ length: left.length }, (_, at) => `/${299 - at}.txt`))
  expect(left.length).toBeGreaterThan(50)
  const sizes = (await store.list()).map(({ size }) => size)
  expect((await contents(store)).map(({ length }) => length)).toEqual(sizes)
  await keep(store, '/huge.txt', Buffer.alloc(3 * mib))
  expect((await store.list())[0]).toMatchObject({ path: '/huge.txt', missing: 'too large' })
  await store.close()
})

it('it never grows beyond its bound while several versions are written at once', async () => {
  const store = open({ sizeBytes: 4 * mib })
  await keep(store, '/old.pdf', Buffer.alloc(1.5 * mib, 'old'))
  let most = 0
  const measured: ReadAll = async (take) => {
    for (let at = 0; at < 15; at++) {
      await take([Buffer.alloc(0.1 * mib, 'new')])
      most = Math.max(most, await onDisk())
    }
    return true
  }
  const size = 15 * Buffer.alloc(0.1 * mib).length
  await Promise.all(
    [1, 2, 3, 4].map((at) =>
      store.keep(
        { path: `/${at}.pdf`, how: 'deleted', fingerprint: `${size}@2026-11-27T09:00:00.${at}Z` },
        measured,
      ),
    ),
  )
  expect(most).toBeLessThanOrEqual(4 * mib)
  expect(most).toBeGreaterThan(2 * mib)
  expect(await onDisk()).toBeLessThanOrEqual(4 * mib)
  expect((await contents(store)).map(({ length }) => length)).toEqual([size, size])
  const kept = (await store.list()).map(({ missing }) => missing ?? 'kept')
  expect(kept.toSorted()).toEqual(['kept', 'kept', 'no room', 'no room'])
  await store.close()
})

it('a version whose change is tried again is kept once, and named as not kept only if it was not', async () => {
  const store = open()
  const going = { path: '/a.txt', how: 'deleted', fingerprint: '7@2026-11-27T09:00:00.5Z' } as const
  const notHere: ReadAll = async () => false
  await store.keep(going, notHere)
  await store.keep(going, notHere)
  expect(await store.list()).toMatchObject([{ missing: 'not here' }])
  await store.keep(going, notHere, bytesOf(Buffer.from('content')))
  const { bytes } = store
  for (let at = 0; at < 100; at++) await store.keep(going, bytesOf(Buffer.from('content')))
  expect(store.bytes).toBe(bytes)
  expect((await store.list()).map(({ missing }) => missing)).toEqual([undefined])
  // A service that tells whole seconds may give another version the same fingerprint.
  const blurred = { ...going, fingerprint: '7@2026-11-27T09:00:00Z' }
  for (const content of ['another', 'a third']) await store.keep(blurred, bytesOf(Buffer.from(content)))
  expect(await store.list()).toHaveLength(3)
  await store.close()
})

it('it forgets what is older than its age, also while nothing is kept', async () => {
  const store = open({ ageMs: 10 * dayMs })
  await keep(store, '/a.txt', Buffer.from('a'))
  nowMs += 9 * dayMs
  await keep(store, '/b.txt', Buffer.from('b'))
  expect((await store.list()).map(({ path }) => path)).toEqual(['/b.txt', '/a.txt'])
  nowMs += 2 * dayMs
  expect((await store.list()).map(({ path }) => path)).toEqual(['/b.txt'])
  nowMs += 9 * dayMs
  expect(await store.list()).toEqual([])
  expect(await onDisk()).toBe(0)
  await store.close()
})

it('what was restored is told by the next run; one that keeps nothing removes all', async () => {
  const store = open()
  await keep(store, '/a.txt', Buffer.from('a'))
  await keep(store, '/large.txt', Buffer.alloc(300_000))
  await store.restored((await store.list()).slice(-1).map(({ id }) => id))
  await store.close()
  const again = open()
  expect((await again.list()).map(({ path, isRestored }) => ({ path, isRestored }))).toEqual([
    { path: '/large.txt', isRestored: false },
    { path: '/a.txt', isRestored: true },
  ])
  await again.close()
  const off = open({ ageMs: 0 })
  expect(await off.list()).toEqual([])
  expect(await onDisk()).toBe(0)
  await off.close()
})

it('a line that a power cut tore, and all behind it, is not there; what is kept later is', async () => {
  const store = open()
  for (const path of ['/a.txt', '/b.txt']) await keep(store, path, Buffer.from(path))
  await store.close()
  const dir = join(temporary.path, 'undo')
  const [pack = ''] = await readdir(dir)
  await truncate(join(dir, pack), (await stat(join(dir, pack))).size - 3)
  await writeFile(join(dir, 'unnamed-7'), 'half a large one')
  const again = open()
  expect((await again.list()).map(({ path }) => path)).toEqual(['/a.txt'])
  await keep(again, '/c.txt', Buffer.from('c'))
  expect((await again.list()).map(({ path }) => path)).toEqual(['/c.txt', '/a.txt'])
  expect(await readdir(dir)).not.toContain('unnamed-7')
  await again.close()
})

it('bytes that are not what was kept are an error, and never a document', async () => {
  const store = open()
  await keep(store, '/a.txt', Buffer.from('the content'))
  const dir = join(temporary.path, 'undo')
  const [pack = ''] = await readdir(dir)
  const text = await readFile(join(dir, pack), 'latin1')
  await writeFile(join(dir, pack), text.replace('the content', 'the kontent'), 'latin1')
  await expect(contentOf(store, '/a.txt')).rejects.toMatchObject({ code: 'EIO' })
  await store.close()
})

it.each([1_000, 300_000])(
  'a disk that refuses %i bytes leaves a line that says so, and no file',
  async (size) => {
    let isFull = true
    const full = (): never => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    }
    const disk: Disk = {
      ...systemDisk,
      writeSync: (fd, bytes, offset, length, position) =>
        isFull && length > 500 ? full() : systemDisk.writeSync(fd, bytes, offset, length, position),
      open: async (path, flags, mode) =>
        isFull && flags === 'wx' ? full() : systemDisk.open(path, flags, mode),
    }
    const store = open({ disk })
    await keep(store, '/a.txt', Buffer.alloc(size))
    expect(await store.list()).toMatchObject([{ path: '/a.txt', missing: 'no room' }])
    isFull = false
    await keep(store, '/b.txt', Buffer.alloc(size))
    expect((await contentOf(store, '/b.txt'))?.equals(Buffer.alloc(size))).toBe(true)
    await store.close()
  },
)

it('room is given back, oldest first, until nothing is left', async () => {
  const store = open({ sizeBytes: 4 * mib })
  for (let at = 0; at < 40; at++) await keep(store, `/${at}.pdf`, Buffer.alloc(70_000))
  const before = store.bytes
  expect(await store.giveUp(mib)).toBeGreaterThanOrEqual(mib)
  expect(store.bytes).toBeLessThan(before)
  expect(store.bytes).toBeGreaterThan(0)
  await store.giveUp(Infinity)
  expect(await onDisk()).toBe(0)
  expect(await store.giveUp(1)).toBe(0)
  await keep(store, '/after.txt', Buffer.from('after'))
  expect(await contentOf(store, '/after.txt')).toEqual(Buffer.from('after'))
  await store.close()
})
