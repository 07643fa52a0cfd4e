// The index of the disk cache's files where the disk fails for a moment: only a file that is gone is forgotten.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BlockIndex } from '../../../src/content/disk/block-index.ts'
import { OpenSegments } from '../../../src/content/disk/open-segments.ts'
import { segmentName, storedVersion } from '../../../src/content/disk/stored-version.ts'
import { type Disk, systemDisk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let folder: TemporaryFolder
/** Calls that fail with EIO: the name of the call, and the end of its path. */
let failing: { readonly call: 'readdir' | 'stat' | 'open'; readonly path: string } | undefined
beforeEach(async () => {
  folder = await makeTemporaryFolder()
  failing = undefined
})
afterEach(() => folder.remove())

function check(call: 'readdir' | 'stat' | 'open', path: string): void {
  if (failing?.call === call && path.endsWith(failing.path))
    throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
}
const disk: Disk = {
  ...systemDisk,
  async readdir(path) {
    check('readdir', path)
    return systemDisk.readdir(path)
  },
  async stat(path) {
    check('stat', path)
    return systemDisk.stat(path)
  },
  async open(path, flags, mode) {
    check('open', path)
    return systemDisk.open(path, flags, mode)
  },
}

const versions = ['/a', '/b', '/c'].map((path) =>
  storedVersion({ path, fingerprint: '4096@1', size: 4096 }, 4096),
)
const names = versions.map((version) => segmentName(version, 0))

async function filled(): Promise<BlockIndex> {
  const index = new BlockIndex(folder.path, { disk, capBytes: 1e9, evicts: true, onEvict: () => {} })
  for (const name of names) {
    await mkdir(join(index.pathOf(name), '..'), { recursive: true })
    await writeFile(index.pathOf(name), Buffer.alloc(4096))
  }
  return index
}
/** Name of the subfolder of a file. */
const shardOf = (index: BlockIndex, name: string): string => index.pathOf(name).split('/').at(-2)!

test('a subfolder, or a file, that cannot be read now is not taken for a missing one: the sizes are right afterwards', async () => {
  const index = await filled()
  for (const [call, path] of [
    ['readdir', `/${shardOf(index, names[0]!)}`],
    ['stat', `/${names[1]}`],
  ] as const) {
    failing = { call, path }
    await expect(index.scan()).rejects.toMatchObject({ code: 'EIO' })
    expect([index.isComplete, index.totalBytes]).toEqual([false, 0])
  }
  failing = undefined
  await index.scan()
  expect([index.documentCount, index.totalBytes]).toEqual([3, 3 * 4096])
  failing = { call: 'readdir', path: `/${shardOf(index, names[0]!)}` }
  await expect(index.scan()).rejects.toMatchObject({ code: 'EIO' })
  expect([index.documentCount, index.totalBytes]).toEqual([3, 3 * 4096])
})

test('a look for missing files forgets none where the folder cannot be read, and those that are gone where it can', async () => {
  const index = await filled()
  await index.scan()
  for (const path of [folder.path, `/${shardOf(index, names[0]!)}`]) {
    failing = { call: 'readdir', path }
    await expect(index.forgetMissing()).rejects.toMatchObject({ code: 'EIO' })
    expect(index.documentCount).toBe(3)
  }
  failing = undefined
  await rm(index.pathOf(names[2]!))
  expect(await index.forgetMissing()).toEqual([names[2]])
  await rm(folder.path, { recursive: true })
  expect((await index.forgetMissing()).toSorted()).toEqual(names.slice(0, 2).toSorted())
  expect(index.totalBytes).toBe(0)
})

test('a file that cannot be opened counts as absent, and its bytes as taken', async () => {
  const index = await filled()
  await index.scan()
  const segments = new OpenSegments(index, { clock: realWorld().clock, disk })
  failing = { call: 'open', path: `/${names[0]}` }
  expect(await segments.find(versions[0]!, 0)).toBeUndefined()
  expect(index.totalBytes).toBe(3 * 4096)
  failing = undefined
  expect(await segments.find(versions[0]!, 0)).toBeDefined()
  await rm(index.pathOf(names[1]!))
  expect(await segments.find(versions[1]!, 0)).toBeUndefined()
  expect(index.totalBytes).toBe(2 * 4096)
  segments.closeAll()
})
