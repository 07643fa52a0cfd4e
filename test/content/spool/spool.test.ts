import { systemDisk, type Disk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import { readFile, rm, stat } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Journal } from '../../../src/content/spool/journal.ts'
import type { SpoolFile } from '../../../src/content/spool/spool-file.ts'
import { Spool, type JournaledContents } from '../../../src/content/spool/spool.ts'
import { forgetfulDisk } from '../../support/forgetful-disk.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

const small = Buffer.alloc(16 * 1024, 'small')

let temporary: TemporaryFolder
let rows: Map<string, Uint8Array>
let spool: Spool

const spoolRows: JournaledContents = {
  save: (id, bytes) => rows.set(id, bytes),
  remove: (id) => rows.delete(id),
  forget: (id) => rows.delete(id),
  get: (id) => rows.get(id),
}

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  rows = new Map()
  spool = new Spool(temporary.path, spoolRows, realWorld())
})

afterEach(() => temporary.remove())

async function save(content: Uint8Array): Promise<string> {
  const file = spool.create('a.pdf')
  await file.write(0, content)
  await spool.secure(file)
  spool.journal(file, '/a.pdf')
  file.idle()
  return file.id
}

test('small content goes into the journal, larger content does not', async () => {
  const id = await save(small)
  expect(Buffer.from(rows.get(id) ?? []).equals(small)).toBe(true)
  expect(rows.has(await save(Buffer.alloc(small.length + 1)))).toBe(false)
})

test('the journal takes 8 MiB of content, and more when some of it is gone', async () => {
  const ids = []
  for (let saved = 0; saved < 600; saved++) ids.push(await save(small))
  const bytes = rows.size * small.length
  expect(bytes).toBeGreaterThanOrEqual(8 * 1024 ** 2)
  expect(bytes).toBeLessThanOrEqual(8 * 1024 ** 2 + small.length)
  for (const id of ids) await spool.remove(id)
  expect(rows.size).toBe(0)
  expect(rows.has(await save(small))).toBe(true)
})

test('content whose transaction fails is in the journal as it was before', async () => {
  const state = await makeTemporaryFolder()
  const journal = new Journal(state.path, realWorld())
  const own = new Spool(temporary.path, journal.contents, realWorld())
  const fail = (file: SpoolFile): void =>
    journal.transaction(() => {
      own.journal(file, '/a.pdf')
      throw new Error('the disk is full')
    })
  const file = own.create('a.pdf')
  await file.write(0, small)
  await own.secure(file)
  expect(() => fail(file)).toThrow('the disk is full')
  expect(file.journaledBytes).toBeUndefined()
  own.journal(file, '/a.pdf')
  await file.write(0, small.subarray(0, 10))
  await file.truncate(10)
  await own.secure(file)
  expect(() => fail(file)).toThrow('the disk is full')
  expect(file.journaledBytes).toBe(small.length)
  expect(journal.contents.get(file.id)).toHaveLength(small.length)
  file.idle()
  journal.close()
  await state.remove()
})

test('content that was written again leaves the journal with what it was', async () => {
  const id = await save(small)
  const file = spool.get(id)
  await file.write(small.length, small)
  await spool.secure(file)
  spool.journal(file, '/a.pdf')
  expect(rows.has(id)).toBe(false)
  file.idle()
})

test.each([
  ['nothing', 'EIO'],
  ['a part', 'ENOSPC'],
])('a copy of which the disk takes %s is no copy, and leaves nothing', async (_what, code) => {
  let isUnwell = false
  const disk: Disk = {
    ...systemDisk,
    writeSync(fd, data, offset, length, position) {
      if (!isUnwell) return systemDisk.writeSync(fd, data, offset, length, position)
      if (code === 'EIO') throw Object.assign(new Error('EIO'), { code })
      return systemDisk.writeSync(fd, data, offset, length - 1, position)
    },
  }
  const writing = new Spool(temporary.path, spoolRows, { ...realWorld(), disk })
  const file = writing.create('a.txt')
  await file.write(0, Buffer.from('content'))
  isUnwell = true
  expect(() => writing.smallCopyOf(file, 'a.txt', 7)).toThrow(expect.objectContaining({ code }))
  expect(await writing.ids()).toEqual([file.id])
})

test('content that is on disk is not synced again', async () => {
  let syncs = 0
  const disk = { ...systemDisk, fdatasync: (fd: number) => (syncs++, systemDisk.fdatasync(fd)) }
  const noRows = { save() {}, remove() {}, forget() {}, get: () => undefined }
  const file = new Spool(temporary.path, noRows, { ...realWorld(), disk }).create('a.pdf')
  await file.write(0, Buffer.alloc(100_000))
  await file.sync()
  file.idle()
  await file.sync()
  expect(syncs).toBe(1)
})

test('content that was on disk and is not any more is not taken for safe', async () => {
  const file = spool.create('a.pdf')
  await file.write(0, Buffer.alloc(100_000))
  await file.sync()
  await rm(file.path)
  await file.sync()
  expect((await stat(file.path)).size).toBe(100_000)
  file.idle()
  await rm(file.path)
  await expect(file.sync()).rejects.toMatchObject({ code: 'EIO' })
})

test('content is gone where the disk says so, and not where nobody can look', async () => {
  let refusal: string | undefined
  const refused = (): never => {
    throw Object.assign(new Error('no look'), { code: refusal })
  }
  const disk: Disk = {
    ...systemDisk,
    existsSync: (path) => refusal === undefined && systemDisk.existsSync(path),
    statSync: (path) => (refusal === undefined ? systemDisk.statSync(path) : refused()),
  }
  const looking = new Spool(temporary.path, spoolRows, { ...realWorld(), disk })
  const file = looking.create('a.pdf')
  await file.write(0, Buffer.alloc(100_000))
  file.idle()
  expect(looking.isGone(file.id)).toBe(false)
  refusal = 'EACCES'
  expect(looking.isGone(file.id)).toBe(false)
  refusal = undefined
  await rm(file.path)
  expect(looking.isGone(file.id)).toBe(true)
})

test('content is secured with the writes that have begun, whoever began them', async () => {
  const content = Buffer.alloc(4 * 1024 ** 2, 'another program writes')
  const file = spool.create('a.pdf')
  const writing = file.write(0, content)
  await spool.secure(file)
  expect(file.size).toBe(content.length)
  expect(file.isSynced).toBe(true)
  await writing
  file.idle()
})

/** A disk whose next `write` or `fdatasync` waits for `go`, and which notes the files that were synced. */
function pausedDisk(call: 'write' | 'fdatasync'): {
  disk: Disk
  begun: Promise<void>
  go: () => void
  synced: number[]
} {
  let isBegun = (): void => {}
  let go = (): void => {}
  const begun = new Promise<void>((resolve) => (isBegun = resolve))
  const paused = new Promise<void>((resolve) => (go = resolve))
  const synced: number[] = []
  const pause = async (here: typeof call): Promise<void> => {
    if (here !== call) return
    isBegun()
    await paused
  }
  const disk: Disk = {
    ...systemDisk,
    async write(...args) {
      await pause('write')
      return systemDisk.write(...args)
    },
    async fdatasync(fd) {
      const { ino } = systemDisk.fstatSync(fd)
      await pause('fdatasync')
      await systemDisk.fdatasync(fd)
      synced.push(ino)
    },
  }
  return { disk, begun, go, synced }
}

test('a file that is put back while it is synced is synced again: the one at its path', async () => {
  const { disk, begun, go, synced } = pausedDisk('fdatasync')
  const pausing = new Spool(temporary.path, spoolRows, { ...realWorld(), disk })
  const file = pausing.create('a.pdf')
  await file.write(0, Buffer.alloc(50_000, 'content'))
  const syncing = file.sync()
  await begun
  await rm(file.path)
  pausing.restoreFiles()
  go()
  await syncing
  expect(synced.at(-1)).toBe((await stat(file.path)).ino)
  file.idle()
})

test('bytes that are being written while the file is put back are in the one at its path', async () => {
  const { disk, begun, go } = pausedDisk('write')
  const pausing = new Spool(temporary.path, spoolRows, { ...realWorld(), disk })
  const file = pausing.create('a.pdf')
  const first = Buffer.alloc(60_000, 'first')
  await file.write(0, first)
  await file.write(first.length, first)
  const second = Buffer.alloc(200_000, 'second')
  const writing = file.write(2 * first.length, second)
  await begun
  await rm(file.path)
  // A reader of the whole content puts the file back.
  for await (const piece of file.stream()) expect(piece.length).toBeGreaterThan(0)
  go()
  expect(await writing).toBe(second.length)
  expect((await readFile(file.path)).equals(Buffer.concat([first, first, second]))).toBe(true)
  file.idle()
})

test('a file that is taken away while a document is copied into it has all of that document', async () => {
  const { disk, begun, go } = pausedDisk('write')
  const pausing = new Spool(temporary.path, spoolRows, { ...realWorld(), disk })
  const file = pausing.create('a.pdf')
  const content = Buffer.alloc(200_000, 'content')
  const filling = file.fill((fd) => disk.write(fd, content, 0, content.length, 0))
  await begun
  await rm(file.path)
  pausing.restoreFiles()
  go()
  await filling
  expect(file.size).toBe(content.length)
  await file.sync()
  expect((await readFile(file.path)).equals(content)).toBe(true)
  file.idle()
})

test('what a failed sync lost is written again before the next one is believed', async () => {
  const content = Buffer.alloc(3_000_000, 'content')
  const disk = forgetfulDisk(content.length)
  const rows = { save() {}, remove() {}, forget() {}, get: () => undefined }
  const file = new Spool(temporary.path, rows, { ...realWorld(), disk }).create('a.pdf')
  await file.write(0, content)
  disk.refusals = 1
  await expect(file.sync()).rejects.toThrow('EIO')
  await file.sync()
  expect(disk.kept.equals(content)).toBe(true)
  file.idle()
})

test('of several syncs under way at once each fails, though the disk tells one', async () => {
  const disk = forgetfulDisk(1_000)
  const rows = { save() {}, remove() {}, forget() {}, get: () => undefined }
  const file = new Spool(temporary.path, rows, { ...realWorld(), disk }).create('a.pdf')
  await file.write(0, Buffer.alloc(1_000, 'content'))
  disk.refusals = 1
  const outcomes = await Promise.allSettled([file.sync(), file.sync()])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  file.idle()
})
