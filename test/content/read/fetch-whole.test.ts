// All of a version comes to its place on disk: with the pins, or in the cache.

import { expect, test } from 'vitest'
import type { Reader } from '../../../src/content/read/reader.ts'
import { never, rangesOf, readAll, readBytes, useReading } from './reading-setup.ts'
import type { ReadingSetup } from './reading-setup.ts'

const MiB = 1024 * 1024

let setup: ReadingSetup
let cacheDir: string
useReading((made, folder) => {
  setup = made
  cacheDir = folder
})

/** Everything is pinned. */
function pinning(sizeBytes = 100 * MiB): Reader {
  const pinned = { dir: `${cacheDir}/pinned`, sizeBytes, covers: () => true }
  return setup.reader({ cacheDir, cacheSizeBytes: 20 * MiB, pinned })
}

const fetchedBytes = (): number => rangesOf(setup.service).reduce((sum, [, length]) => sum + length, 0)

test('what is pinned already is not fetched again, and what the cache has comes from there', async () => {
  const { version, bytes } = await setup.store('/whole.bin', 9 * MiB + 5)
  const reader = pinning()
  await readBytes(reader.open(version), 4 * MiB, MiB)
  await reader.close()
  setup.service.clearCalls()
  const again = pinning()
  expect(await again.fetchWhole(version, { signal: never })).toBe(fetchedBytes())
  expect(fetchedBytes()).toBe(8 * MiB + 5)
  expect(await again.fetchWhole(version, { signal: never })).toBe(0)
  await again.close()
  setup.service.faults.inject({ kind: 'status', status: 500 })
  expect((await readAll(pinning().open(version))).equals(bytes)).toBe(true)
})

test('it does not pass through the memory that readers share', async () => {
  const { version, bytes } = await setup.store('/memory.bin', 6 * MiB)
  const other = await setup.store('/other.bin', 100_000)
  const reader = setup.reader({
    cacheDir,
    cacheSizeBytes: 0,
    memoryBytes: 2 * MiB,
    pinned: { dir: `${cacheDir}/pinned`, sizeBytes: 100 * MiB, covers: (path) => path === '/memory.bin' },
  })
  await readAll(reader.open(other.version))
  await reader.fetchWhole(version, { signal: never })
  setup.service.clearCalls()
  await readAll(reader.open(other.version))
  expect((await readAll(reader.open(version))).equals(bytes)).toBe(true)
  expect(setup.service.calls).toHaveLength(0)
})

test('a document that changed meanwhile is ESTALE, and nothing of it stays', async () => {
  const { version } = await setup.store('/changed.bin', 5 * MiB, 'first')
  const reader = pinning()
  await reader.fetchWhole(version, { signal: never })
  const { version: newer, bytes } = await setup.store('/changed.bin', 5 * MiB, 'second')
  setup.urls.forget('/changed.bin')
  await reader.disk.forget('/changed.bin')
  await expect(reader.fetchWhole(version, { signal: never })).rejects.toMatchObject({ code: 'ESTALE' })
  await reader.fetchWhole(newer, { signal: never })
  expect((await readAll(reader.open(newer))).equals(bytes)).toBe(true)
})

test('what does not fit is ENOSPC, and what is there stays', async () => {
  const small = await setup.store('/small.bin', 1 * MiB)
  const large = await setup.store('/large.bin', 6 * MiB)
  const reader = pinning(4 * MiB)
  await reader.fetchWhole(small.version, { signal: never })
  await expect(reader.fetchWhole(large.version, { signal: never })).rejects.toMatchObject({ code: 'ENOSPC' })
  expect(await reader.disk.bytesInPlace(small.version, 1 * MiB)).toBe(1 * MiB)
})

test('a caller who goes away ends it', async () => {
  const { version } = await setup.store('/gone.bin', 5 * MiB)
  const controller = new AbortController()
  controller.abort(new Error('gone'))
  await expect(pinning().fetchWhole(version, { signal: controller.signal })).rejects.toThrow('gone')
})
