// The disk cache through the reader: what outlives a restart, what a damaged file does, how many bytes it takes.

import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Reading } from '../../../src/content/read/reader.ts'
import type { Clock } from '../../../src/world/clock.ts'
import { systemDisk } from '../../../src/world/disk.ts'
import type { Disk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import { patternedBytes } from '../../support/bytes.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { never, rangesOf, readAll, readBytes, useReading } from '../read/reading-setup.ts'
import type { ReadingSetup, StoredDocument } from '../read/reading-setup.ts'

const KiB = 1024
const MiB = 1024 * KiB

let setup: ReadingSetup
let cacheDir: string
useReading((made, folder) => {
  setup = made
  cacheDir = folder
})

/** The files of the cache with what they take, all at one moment: nothing is begun while this looks. */
function cacheEntries(): { path: string; bytes: number }[] {
  // Made behind the first reads.
  if (!existsSync(cacheDir)) return []
  return readdirSync(cacheDir, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const path = join(cacheDir, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats?.isFile() === true ? [{ path, bytes: stats.blocks * 512 }] : []
  })
}

function cacheFiles(): string[] {
  return cacheEntries().map(({ path }) => path)
}

function bytesOnDisk(): number {
  return cacheEntries().reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Reads a document whole with a reader of its own, which is closed: what it kept is on disk. */
async function readOnce({ version, bytes }: StoredDocument, options: object = {}): Promise<void> {
  const reader = setup.reader({ cacheDir, ...options })
  expect((await readAll(reader.open(version))).equals(bytes)).toBe(true)
  await reader.close()
}

/** A document whose file the cache took over, and what became of that on disk. */
async function adoptedAnd(damaged: (content: Buffer) => Buffer, path: string): Promise<StoredDocument> {
  const document = await setup.store(path, 600 * KiB)
  const file = `${setup.folder}/spooled`
  await writeFile(file, document.bytes)
  const reader = setup.reader({ cacheDir })
  await reader.adopt(document.version, file)
  await reader.close()
  const [cached = ''] = cacheFiles()
  await writeFile(cached, damaged(await readFile(cached)))
  return document
}

function withOtherByte(content: Buffer): Buffer {
  const other = Buffer.from(content)
  other[200_000] = (other[200_000] ?? 0) ^ 1
  return other
}

/** Cuts the service off: what is read from now on is here, or it fails. */
function goOffline(): void {
  setup.service.faults.inject({ kind: 'status', status: 500 })
  setup.service.clearCalls()
}

describe('the disk cache', () => {
  test.each([
    ['a small document', 8_000],
    ['a document of exactly one block', 128 * KiB],
    ['a document of several segments', 9 * MiB + 4321],
  ])('serves %s after a restart without any call', async (_title, size) => {
    const document = await setup.store('/restart.bin', size)
    await readOnce(document)
    goOffline()
    setup.urls.forget('/restart.bin')
    await readOnce(document)
    expect(setup.service.calls).toHaveLength(0)
  })

  test('fetches only what is missing', async () => {
    const document = await setup.store('/partly.bin', 6 * MiB)
    const reader = setup.reader({ cacheDir })
    await readBytes(reader.open(document.version), 2 * MiB, MiB)
    await reader.close()
    setup.service.clearCalls()
    await readOnce(document)
    const fetched = rangesOf(setup.service)
    expect(fetched.reduce((sum, [, length]) => sum + length, 0)).toBe(5 * MiB)
    expect(fetched.some(([offset, length]) => offset < 3 * MiB && offset + length > 2 * MiB)).toBe(false)
  })

  test('never serves a block that was damaged on disk, whatever byte was', async () => {
    const document = await setup.store('/damaged.bin', 3 * 128 * KiB + 100)
    for (const at of [0, 128 * KiB + 7, 3 * 128 * KiB + 50, 3 * 128 * KiB + 112, 3 * 128 * KiB + 140]) {
      await readOnce(document)
      const [file = ''] = cacheFiles()
      const content = await readFile(file)
      content[at] = (content[at] ?? 0) ^ 0x40
      await writeFile(file, content)
      setup.service.clearCalls()
      await readOnce(document)
      expect(rangesOf(setup.service).length, `byte ${at}`).toBeGreaterThan(0)
    }
  })

  test('never serves a truncated file', async () => {
    const document = await setup.store('/truncated.bin', 5 * 128 * KiB)
    for (const length of [0, 1, 128 * KiB, 3 * 128 * KiB - 1, 5 * 128 * KiB, 5 * 128 * KiB + 20]) {
      await readOnce(document)
      const [file = ''] = cacheFiles()
      await truncate(file, length)
      await readOnce(document)
    }
  })

  test('never serves another file put under its name', async () => {
    const document = await setup.store('/swapped.bin', 300 * KiB)
    await readOnce(document)
    const [file = ''] = cacheFiles()
    await writeFile(file, patternedBytes(400 * KiB, 'something else'))
    await readOnce(document)
  })

  test('goes on when its files vanish while it is used', async () => {
    const document = await setup.store('/vanishing.bin', 6 * MiB)
    await readOnce(document)
    const reader = setup.reader({ cacheDir, memoryBytes: 0 })
    const reading = reader.open(document.version)
    expect((await readBytes(reading, 0, MiB)).equals(document.bytes.subarray(0, MiB))).toBe(true)
    await rm(cacheDir, { recursive: true })
    expect((await readAll(reading)).equals(document.bytes)).toBe(true)
  })

  test.each([4, 10])('takes never more than its cap of %i MiB, also for one large document', async (cap) => {
    const document = await setup.store('/capped.bin', 30 * MiB)
    const reader = setup.reader({ cacheDir, cacheSizeBytes: cap * MiB })
    const reading = reader.open(document.version)
    let most = 0
    for (let offset = 0; offset < 30 * MiB; offset += MiB) {
      expect(
        (await readBytes(reading, offset, MiB)).equals(document.bytes.subarray(offset, offset + MiB)),
      ).toBe(true)
      most = Math.max(most, bytesOnDisk())
    }
    await reader.close()
    most = Math.max(most, bytesOnDisk())
    expect(most).toBeLessThanOrEqual(cap * MiB)
    expect(most).toBeGreaterThan(0)
  })

  test('a smaller cap than last time is kept from the start', async () => {
    await readOnce(await setup.store('/shrink.bin', 20 * MiB))
    const reader = setup.reader({ cacheDir, cacheSizeBytes: 5 * MiB })
    await waitUntil('the cache has shrunk', () => bytesOnDisk() <= 5 * MiB)
    await reader.close()
  })

  test('what was not used for longest goes first', async () => {
    const documents = []
    for (const name of ['a', 'b', 'c']) documents.push(await setup.store(`/lru-${name}.bin`, 3 * MiB))
    const [a, b, c] = documents as [StoredDocument, StoredDocument, StoredDocument]
    const options = { cacheSizeBytes: 7 * MiB }
    await readOnce(a, options)
    await readOnce(b, options)
    await readOnce(a, options)
    await readOnce(c, options)
    setup.service.clearCalls()
    await readOnce(a, options)
    expect(rangesOf(setup.service)).toHaveLength(0)
    await readOnce(b, options)
    expect(rangesOf(setup.service).length).toBeGreaterThan(0)
  })

  test('a folder that cannot be made is one warning, and reading goes on', async () => {
    await writeFile(cacheDir, 'a file is in the way')
    setup.warnings.length = 0
    await readOnce(await setup.store('/unwritable.bin', 3 * MiB))
    expect(setup.warnings).toHaveLength(1)
    expect(setup.warnings[0]).toContain('reading goes on without the disk cache')
  })

  test.runIf(process.getuid?.() !== 0)('a folder without permission is one warning, too', async () => {
    await mkdir(cacheDir)
    chmodSync(cacheDir, 0o500)
    setup.warnings.length = 0
    await readOnce(await setup.store('/forbidden.bin', 3 * MiB))
    expect(setup.warnings).toHaveLength(1)
  })

  test('size 0 puts nothing on disk', async () => {
    await readOnce(await setup.store('/memory-only.bin', 2 * MiB), { cacheSizeBytes: 0 })
    await expect(stat(cacheDir)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('documents in the cache are for their owner only', async () => {
    await readOnce(await setup.store('/private.bin', 10))
    for (const file of cacheFiles()) expect((await stat(file)).mode & 0o077).toBe(0)
  })

  test('makes each of its folders once, and before it puts a file there', async () => {
    const made: string[] = []
    const refused: string[] = []
    const disk: Disk = {
      ...systemDisk,
      mkdir(path, options) {
        made.push(path)
        return systemDisk.mkdir(path, options)
      },
      open: (path, flags, mode) =>
        systemDisk.open(path, flags, mode).catch((error: unknown) => {
          // Others are looked for, before it is known what is there.
          if (flags.startsWith('w')) refused.push(path)
          throw error
        }),
    }
    const options = { cacheDir, world: { ...realWorld(), disk } }
    const documents = []
    for (const name of ['one', 'two', 'three']) documents.push(await setup.store(`/${name}.bin`, 1_000))
    for (const document of documents) await readOnce(document, options)
    expect(cacheFiles()).toHaveLength(3)
    const folders = new Set(cacheFiles().map((file) => dirname(file)))
    expect(made.filter((path) => folders.has(path)).toSorted()).toEqual([...folders].toSorted())
    expect(refused).toEqual([])
  })

  test('what the disk does not let go of is another version’s by its time before the next one is sent', async () => {
    let refuses = false
    const disk: Disk = {
      ...systemDisk,
      async unlink(path) {
        if (refuses) throw Object.assign(new Error('EIO: the disk'), { code: 'EIO' })
        await systemDisk.unlink(path)
      },
    }
    const world = realWorld()
    /** Long waits, from when the disk refuses. */
    const waits: (() => void)[] = []
    const setTimeout: Clock['setTimeout'] = (run, ms) => {
      if (!refuses || ms < 500) return world.clock.setTimeout(run, ms)
      waits.push(run)
      return world.clock.setTimeout(() => {}, 0)
    }
    const clock = { ...world.clock, setTimeout }
    const document = await setup.store('/kept.bin', 1_000)
    const reader = setup.reader({ cacheDir, world: { ...world, clock, disk } })
    await readAll(reader.open(document.version))
    await waitUntil('it to be on disk', () => cacheFiles().length === 1)
    refuses = true
    await reader.forget('/kept.bin')
    let isSure = false
    const forgotten = reader.forget('/kept.bin', { isSure: true }).then(() => (isSure = true))
    await waitUntil('it to wait', () => waits.length > 0)
    expect(isSure).toBe(false)
    for (const wait of waits) wait()
    await forgotten
    refuses = false
    await reader.close()
  })

  test('two readers on one folder, at once, both get the right bytes and keep them', async () => {
    const document = await setup.store('/two-mounts.bin', 12 * MiB)
    const readers = [setup.reader({ cacheDir }), setup.reader({ cacheDir })]
    const both = await Promise.all(readers.map((reader) => readAll(reader.open(document.version))))
    expect(both.every((one) => one.equals(document.bytes))).toBe(true)
    await Promise.all(readers.map((reader) => reader.close()))
    goOffline()
    await readOnce(document)
  })

  /** A disk, and what was written past the kernel's pages. */
  function watchedDisk(): { disk: Disk; past: string[] } {
    const past: string[] = []
    const disk: Disk = {
      ...systemDisk,
      openPastPages(path) {
        past.push(path)
        return systemDisk.openPastPages(path)
      },
    }
    return { disk, past }
  }

  test('what a reader in order takes goes past the kernel’s pages, what is fetched for later does not', async () => {
    const { disk, past } = watchedDisk()
    const world = { ...realWorld(), disk }
    const later = await setup.store('/for-later.bin', 12 * MiB)
    const reader = setup.reader({ cacheDir, world })
    reader.prefetch(later.version, 12 * MiB)
    await waitUntil('it is on disk', () => bytesOnDisk() >= 12 * MiB)
    await reader.close()
    expect(past).toEqual([])
    const inOrder = await setup.store('/in-order.bin', 24 * MiB)
    await readOnce(inOrder, { world })
    expect(past.length).toBeGreaterThan(0)
    goOffline()
    await readOnce(inOrder)
  })

  test('blocks kept from another content of the same fingerprint are never mixed in', async () => {
    const old = await setup.store('/same-print.bin', 6 * MiB, 'old')
    const reader = setup.reader({ cacheDir })
    await readBytes(reader.open(old.version), 0, 128 * KiB)
    await reader.close()
    const fresh = await setup.store('/same-print.bin', 6 * MiB, 'new')
    // A service with coarse times: the new content has the old one's fingerprint.
    const version = { ...fresh.version, fingerprint: old.version.fingerprint }
    setup.urls.remember(version.path, { ...fresh.file, modifiedAt: old.file.modifiedAt }, Date.now() + 1000)
    const again = setup.reader({ cacheDir })
    const reading = again.open(version)
    const head = await readBytes(reading, 0, 128 * KiB)
    expect(head.equals(old.bytes.subarray(0, 128 * KiB))).toBe(true)
    await expect(readBytes(reading, 3 * MiB, 128 * KiB)).rejects.toMatchObject({ code: 'ESTALE' })
    await waitUntil('the old blocks are gone', () => cacheFiles().length === 0)
    setup.urls.remember(version.path, { ...fresh.file, modifiedAt: old.file.modifiedAt }, Date.now() + 2000)
    expect((await readAll(again.open(version))).equals(fresh.bytes)).toBe(true)
  })

  test('a version without a time of change is not kept beyond its readers', async () => {
    const { version, bytes } = await setup.store('/weak.bin', 500 * KiB)
    const weak = { ...version, fingerprint: `${bytes.length}@?` }
    setup.service.faults.inject({ kind: 'omit-fields', fields: ['modified_at'] })
    setup.urls.forget(version.path)
    const reader = setup.reader({ cacheDir })
    const reading = reader.open(weak)
    expect((await readAll(reading)).equals(bytes)).toBe(true)
    setup.service.clearCalls()
    expect((await readAll(reading)).equals(bytes)).toBe(true)
    expect(setup.service.calls).toHaveLength(0)
    reading.close()
    expect((await readAll(reader.open(weak))).equals(bytes)).toBe(true)
    expect(rangesOf(setup.service).length).toBeGreaterThan(0)
    await reader.close()
    expect(cacheFiles()).toHaveLength(0)
  })
})

describe('what is at hand', () => {
  interface AtHand {
    readonly bytes: Buffer
    readonly reading: Reading
    /** Bytes of each read that was made on this thread. */
    readonly readsHere: number[]
  }

  /** A document that is in the cache; each read of the disk takes `readMs` by the reader's clock. */
  async function atHand(path: string, size: number, readMs = 0): Promise<AtHand> {
    const document = await setup.store(path, size)
    await readOnce(document)
    const world = realWorld()
    const readsHere: number[] = []
    let goneMs = 0
    // A busy machine must not look like a slow disk.
    const clock = { ...world.clock, monotonic: () => goneMs }
    const disk: Disk = {
      ...systemDisk,
      readSync(fd, buffer, offset, length, position) {
        readsHere.push(length)
        goneMs += readMs
        return systemDisk.readSync(fd, buffer, offset, length, position)
      },
    }
    const reader = setup.reader({ cacheDir, world: { ...world, clock, disk } })
    return { bytes: document.bytes, reading: reader.open(document.version), readsHere }
  }

  test('is answered at once, in the room the reader lends, with no more than its pieces read', async () => {
    const { bytes, reading, readsHere } = await atHand('/at-hand.bin', 6 * MiB)
    // The first look at a file of the cache opens it.
    await readBytes(reading, 2 * MiB, 1)
    const room = Buffer.alloc(64 * KiB)
    for (const [offset, length, pieces] of [
      [3 * MiB, 4 * KiB, 1],
      [MiB + 5, 16 * KiB, 2],
      [2 * MiB + 100 * KiB, 48 * KiB, 4],
    ] as const) {
      readsHere.length = 0
      const [answer, ...more] = reading.read(offset, length, {
        signal: never,
        readBuffer: room,
      }) as Uint8Array[]
      expect(more).toEqual([])
      expect(answer?.buffer).toBe(room.buffer)
      expect(bytes.subarray(offset, offset + length).equals(answer as Buffer)).toBe(true)
      expect(readsHere).toEqual([pieces * 16 * KiB])
    }
    // Too much for the room, or none lent.
    const large = reading.read(3 * MiB, 128 * KiB, { signal: never, readBuffer: room }) as Uint8Array[]
    expect(large[0]?.buffer).not.toBe(room.buffer)
    expect(Buffer.concat(large).equals(bytes.subarray(3 * MiB, 3 * MiB + 128 * KiB))).toBe(true)
    reading.close()
  })

  test('is not read into memory ahead of a reader in order', async () => {
    const { bytes, reading, readsHere } = await atHand('/in-order.bin', 9 * MiB + 100)
    goOffline()
    // Opens the files of the cache, one by one.
    for (const offset of [0, 4, 8]) await readBytes(reading, offset * MiB, 1)
    readsHere.length = 0
    expect((await readAll(reading)).equals(bytes)).toBe(true)
    expect(readsHere.length).toBeGreaterThanOrEqual(Math.floor(bytes.length / (128 * KiB)) - 6)
    reading.close()
  })

  test('is read by the thread pool for a second where the disk turns out to be slow', async () => {
    const { bytes, reading, readsHere } = await atHand('/slow-disk.bin', 3 * MiB, 10)
    for (let at = 1; at <= 20; at++) {
      const offset = ((at * 7) % 24) * 128 * KiB + 20 * KiB
      const read = await readBytes(reading, offset, 4 * KiB)
      expect(read.equals(bytes.subarray(offset, offset + 4 * KiB))).toBe(true)
    }
    expect(readsHere.length).toBe(4)
    reading.close()
  })

  test('and damaged meanwhile is fetched again', async () => {
    const { bytes, reading, readsHere } = await atHand('/spoiled.bin', 3 * MiB)
    await readBytes(reading, 2 * MiB, 1)
    const [file = ''] = cacheFiles()
    const content = await readFile(file)
    content[MiB + 7] = (content[MiB + 7] ?? 0) ^ 0x40
    await writeFile(file, content)
    setup.service.clearCalls()
    const read = await readBytes(reading, MiB, 4 * KiB)
    expect(read.equals(bytes.subarray(MiB, MiB + 4 * KiB))).toBe(true)
    expect(readsHere.length).toBeGreaterThan(0)
    expect(rangesOf(setup.service)).toEqual([[MiB, 128 * KiB]])
    reading.close()
  })
})

describe('changes of the namespace', () => {
  test('a forgotten path leaves nothing on disk', async () => {
    const document = await setup.store('/forgotten.bin', 9 * MiB)
    const reader = setup.reader({ cacheDir })
    await readAll(reader.open(document.version))
    await reader.forget('/forgotten.bin')
    await reader.close()
    expect(cacheFiles()).toHaveLength(0)
  })

  test.each([40 * KiB, 9 * MiB])(
    'a renamed document of %i bytes keeps its blocks, also over a restart',
    async (size) => {
      const from = await setup.store('/from.bin', size, 'moved')
      const to = await setup.store('/to.bin', size, 'moved')
      const reader = setup.reader({ cacheDir })
      const reading = reader.open(from.version)
      await readAll(reading)
      reader.moved(from.version, to.version)
      await setup.files.delete('/from.bin')
      void reader.forget('/from.bin')
      setup.service.clearCalls()
      expect((await readAll(reading)).equals(from.bytes)).toBe(true)
      expect((await readAll(reader.open(to.version))).equals(from.bytes)).toBe(true)
      await reader.close()
      goOffline()
      await readOnce(to)
      expect(setup.service.calls).toHaveLength(0)
    },
  )

  test('a partly cached document goes on under its new name', async () => {
    const from = await setup.store('/part-from.bin', 6 * MiB, 'moved')
    const to = await setup.store('/part-to.bin', 6 * MiB, 'moved')
    const reader = setup.reader({ cacheDir })
    const reading = reader.open(from.version)
    await readBytes(reading, 0, 128 * KiB)
    reader.moved(from.version, to.version)
    await setup.files.delete('/part-from.bin')
    expect((await readAll(reading)).equals(to.bytes)).toBe(true)
  })

  test.each([0, 5_000, 128 * KiB, 5 * MiB + 3])(
    'an adopted file of %i bytes is the document',
    async (size) => {
      const document = await setup.store('/adopted.bin', size)
      const file = `${setup.folder}/spooled`
      await writeFile(file, document.bytes)
      const reader = setup.reader({ cacheDir })
      await reader.adopt(document.version, file)
      await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
      goOffline()
      expect((await readAll(reader.open(document.version))).equals(document.bytes)).toBe(true)
      await reader.close()
      await readOnce(document)
      expect(setup.service.calls).toHaveLength(0)
    },
  )

  test.each([5_000, 600 * KiB])(
    'of two saves of %i bytes that the service tells apart by nothing, the later one is read',
    async (size) => {
      const { version } = await setup.store(
        `/twice-${size}.bin`,
        size,
        'as a service holds it that tells time by the second',
      )
      const reader = setup.reader({ cacheDir })
      const save = async (bytes: Buffer): Promise<void> => {
        const file = `${setup.folder}/spooled`
        await writeFile(file, bytes)
        if (size < 128 * KiB) reader.keep(version, bytes)
        else await reader.adopt(version, file)
      }
      goOffline()
      for (const seed of ['earlier', 'later']) {
        const bytes = patternedBytes(size, seed)
        await save(bytes)
        expect((await readAll(reader.open(version))).equals(bytes)).toBe(true)
      }
      await reader.close()
      expect(
        (await readAll(setup.reader({ cacheDir }).open(version))).equals(patternedBytes(size, 'later')),
      ).toBe(true)
    },
  )

  test.each([5_000, 600 * KiB])(
    'a document of %i bytes that is renamed over one that looks the same is read, not that one',
    async (size) => {
      const from = await setup.store(`/over-from-${size}.bin`, size, 'as a service holds it')
      // Not here: it would be moved.
      const to = await setup.store(`/over-to-${size}.bin`, size, 'as a service holds it')
      const earlier = patternedBytes(size, 'earlier in this second')
      const reader = setup.reader({ cacheDir })
      const file = `${setup.folder}/spooled`
      await writeFile(file, earlier)
      if (size < 128 * KiB) reader.keep(to.version, earlier)
      else await reader.adopt(to.version, file)
      expect((await readAll(reader.open(to.version))).equals(earlier)).toBe(true)
      reader.moved(from.version, to.version)
      expect((await readAll(reader.open(to.version))).equals(to.bytes)).toBe(true)
      await reader.close()
      expect((await readAll(setup.reader({ cacheDir }).open(to.version))).equals(to.bytes)).toBe(true)
    },
  )

  test('an adopted file of another disk is the document, and leaves nothing there', async () => {
    const document = await setup.store('/adopted-from-elsewhere.bin', MiB)
    const file = `${setup.folder}/spooled-elsewhere`
    await writeFile(file, document.bytes)
    const disk: Disk = {
      ...systemDisk,
      rename: async (from, to) => {
        if (from === file) throw Object.assign(new Error('EXDEV'), { code: 'EXDEV' })
        await systemDisk.rename(from, to)
      },
    }
    const reader = setup.reader({ cacheDir, world: { ...realWorld(), disk } })
    await reader.adopt(document.version, file)
    expect(existsSync(file)).toBe(false)
    goOffline()
    expect((await readAll(reader.open(document.version))).equals(document.bytes)).toBe(true)
  })

  test('an adopted file that is renamed before its checksums are written is still the document', async () => {
    const document = await setup.store('/adopted-moved.bin', 40 * MiB)
    const to = { path: '/adopted-moved-to.bin', fingerprint: document.version.fingerprint, size: 40 * MiB }
    const file = `${setup.folder}/spooled`
    await writeFile(file, document.bytes)
    const reader = setup.reader({ cacheDir })
    goOffline()
    await reader.adopt(document.version, file)
    reader.moved(document.version, to)
    expect((await readAll(reader.open(to))).equals(document.bytes)).toBe(true)
    await reader.close()
    await readOnce({ ...document, version: to })
    expect(setup.service.calls).toHaveLength(0)
  })

  test('an adopted file is damaged on disk: its blocks are fetched again', async () => {
    await readOnce(await adoptedAnd(withOtherByte, '/adopted-damaged.bin'))
  })

  test.each([
    ['ended before its checksums were written', (content: Buffer) => content.subarray(0, 600 * KiB)],
    ['was damaged', withOtherByte],
  ])('an adopted file %s: what is fetched again is kept', async (_what, damaged) => {
    const document = await adoptedAnd(damaged, '/adopted-kept.bin')
    await readOnce(document)
    goOffline()
    await readOnce(document)
    expect(setup.service.calls).toHaveLength(0)
  })

  test('a file of the wrong size is not adopted, and removed', async () => {
    const document = await setup.store('/wrong-size.bin', 5_000)
    const file = `${setup.folder}/spooled`
    await writeFile(file, document.bytes.subarray(1))
    const reader = setup.reader({ cacheDir })
    await reader.adopt(document.version, file)
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await readAll(reader.open(document.version))).equals(document.bytes)).toBe(true)
  })

  test('a file that cannot be kept is removed all the same', async () => {
    const document = await setup.store('/no-cache.bin', 5_000)
    for (const options of [{ cacheSizeBytes: 0 }, { cacheDir, cacheSizeBytes: 4_000 }]) {
      const file = `${setup.folder}/spooled`
      await writeFile(file, document.bytes)
      await setup.reader(options).adopt(document.version, file)
      await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
    }
  })

  test('reading a document that was forgotten meanwhile goes on', async () => {
    const document = await setup.store('/forgotten-open.bin', 4 * MiB)
    const reader = setup.reader({ cacheDir })
    const reading = reader.open(document.version)
    await readBytes(reading, 0, 10)
    await reader.forget('/forgotten-open.bin')
    expect((await readAll(reading)).equals(document.bytes)).toBe(true)
    expect(await reading.read(0, 0, { signal: never })).toEqual([])
  })
})
