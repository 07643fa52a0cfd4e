// Folders for blobs are made when the first blob needs them. A blob counts as stored when its own name and that of its folder
// are on the disk: what is synced, and in which order, is noted here on its way.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { BlobBackend } from '../../src/service/blobs/backend.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const { fsync } = fs
let synced: string[] = []
let openDiskBackend: (folder: string) => Promise<BlobBackend>
let temporary: TemporaryFolder
let folder: string

beforeAll(async () => {
  const noting = (fd: number, done: fs.NoParamCallback): void => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${fd}`))
    fsync(fd, done)
  }
  fs.fsync = Object.assign(noting, { __promisify__: fsync.__promisify__ })
  syncBuiltinESMExports()
  ;({ openDiskBackend } = await import('../../src/service/blobs/disk.ts'))
})
afterAll(() => {
  fs.fsync = fsync
  syncBuiltinESMExports()
})
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  folder = join(temporary.path, 'blobs')
})
afterEach(() => temporary.remove())

/** Two contents whose hashes begin alike. */
const [first, second] = pairOfOneFolder()
const prefix = hashOf(first).slice(0, 2)

test('a new store has no folder for blobs yet, and its own name is on the disk', async () => {
  synced = []
  const backend = await openDiskBackend(folder)
  expect(await readdir(folder)).toEqual(['incoming'])
  expect(synced).toEqual([temporary.path, folder])
  expect(await all(backend)).toEqual([])
})

test('the first blob of a folder is stored when the name of the folder is, the next one when its own is', async () => {
  const backend = await openDiskBackend(folder)
  expect(await syncsOf(backend, first)).toEqual([join(folder, prefix), folder])
  expect(await syncsOf(backend, second)).toEqual([join(folder, prefix)])
  expect((await all(backend)).toSorted()).toEqual([hashOf(first), hashOf(second)].toSorted())
})

test('a folder that another node has just made counts as one made here', async () => {
  const backend = await openDiskBackend(folder)
  await mkdir(join(folder, prefix))
  expect(await syncsOf(backend, first)).toEqual([join(folder, prefix), folder])
})

test('folders that are there at the start are synced once, by it', async () => {
  await syncsOf(await openDiskBackend(folder), first)
  synced = []
  const backend = await openDiskBackend(folder)
  expect(synced).toEqual([temporary.path, folder])
  expect(await syncsOf(backend, second)).toEqual([join(folder, prefix)])
})

/** Folders that are synced for the names of a content, after its bytes. */
async function syncsOf(backend: BlobBackend, content: Buffer): Promise<string[]> {
  const writer = await backend.stage()
  await writer.write(content)
  const staged = await writer.finish()
  synced = []
  await backend.publish(staged)
  return synced
}

async function all(backend: BlobBackend): Promise<string[]> {
  const hashes: string[] = []
  for await (const batch of backend.list()) hashes.push(...batch)
  return hashes
}

function pairOfOneFolder(): [Buffer, Buffer] {
  const byPrefix = new Map<string, Buffer>()
  for (let count = 0; ; count++) {
    const content = Buffer.from(`content ${count}`)
    const other = byPrefix.get(hashOf(content).slice(0, 2))
    if (other !== undefined) return [other, content]
    byPrefix.set(hashOf(content).slice(0, 2), content)
  }
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
