// Writing past the kernel's pages: what is in the file is the same, and the memory it takes is one write's at a time.

import { setTimeout as sleep } from 'node:timers/promises'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PastPages } from '../../../src/content/disk/past-pages.ts'
import { Segment } from '../../../src/content/disk/segment.ts'
import { tagOf } from '../../../src/content/disk/segment-table.ts'
import type { StoredBlock } from '../../../src/content/disk/segment-table.ts'
import { systemDisk } from '../../../src/world/disk.ts'
import type { Disk } from '../../../src/world/disk.ts'
import { realWorld } from '../../../src/world/world.ts'
import { patternedBytes } from '../../support/bytes.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import type { TemporaryFolder } from '../../support/temporary-folder.ts'

const block = 128 * 1024
const MiB = 1024 * 1024
const shape = { firstBlock: 32, blocks: 24, dataBytes: 23 * block + 5_000 }
const tag = tagOf('"some etag"')

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await makeTemporaryFolder()
})
afterAll(() => folder.remove())

/** By a clock that stands still: a busy machine must not look like a slow disk. */
function pagesOf(disk: Disk, monotonic = () => 0): PastPages {
  return new PastPages({ disk, clock: { ...realWorld().clock, monotonic } })
}

interface WatchedDisk {
  readonly disk: Disk
  /** Bytes of each write past the pages that was carried out. */
  readonly past: number[]
  /** How often a file was opened for it. */
  opened: number
}

/** The disk; `carryOut` may do otherwise with a write past the pages. */
function watched(
  carryOut: (write: () => Promise<{ bytesWritten: number }>) => Promise<{ bytesWritten: number }>,
): WatchedDisk {
  const seen: WatchedDisk = {
    past: [],
    opened: 0,
    disk: {
      ...systemDisk,
      async openPastPages(path) {
        seen.opened++
        const file = await systemDisk.openPastPages(path)
        return {
          fd: file.fd,
          read: (...how) => file.read(...how),
          writev: (pieces, position) =>
            carryOut(async () => {
              const answer = await file.writev(pieces, position)
              seen.past.push(answer.bytesWritten)
              return answer
            }),
          utimes: (...times) => file.utimes(...times),
          sync: () => file.sync(),
          close: () => file.close(),
        }
      },
    },
  }
  return seen
}

/** Blocks of a document, each in pieces that begin anywhere. */
function blocksOf(document: Buffer, first: number, end: number, cuts: readonly number[]): StoredBlock[] {
  const blocks: StoredBlock[] = []
  for (let number = first; number < end; number++) {
    const bytes = document.subarray(
      (number - shape.firstBlock) * block,
      (number - shape.firstBlock + 1) * block,
    )
    const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((a, b) => a - b)
    blocks.push({ block: number, tag, bytes: ends.map((to, at) => bytes.subarray(ends[at - 1] ?? 0, to)) })
  }
  return blocks
}

async function contentOf(segment: Segment): Promise<Buffer> {
  const blocks = await segment.read({ first: shape.firstBlock, end: shape.firstBlock + shape.blocks })
  return Buffer.concat(blocks.flatMap(({ bytes }) => [...bytes]))
}

test('any blocks, in any pieces, of several files at once, are in the files as they came', async () => {
  // The system takes the bytes when its thread gets to them, not when it is asked.
  const { disk, past } = watched(async (write) => {
    await sleep(2)
    return write()
  })
  let made = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(shape.blocks - 1), fc.integer({ min: 1, max: shape.blocks })), {
        minLength: 2,
        maxLength: 4,
      }),
      fc.array(fc.integer({ min: 1, max: block - 1 }), { maxLength: 4 }),
      async (runs, cuts) => {
        const pages = pagesOf(disk)
        const all = runs.map(async ([from, length]) => {
          const first = shape.firstBlock + from
          const end = Math.min(first + length, shape.firstBlock + shape.blocks)
          const document = patternedBytes(shape.dataBytes, `any ${++made}`)
          const file = `${folder.path}/any-${made}`
          const segment = await Segment.open(disk, file, shape, true)
          await segment.write(blocksOf(document, first, end, cuts), { pastPages: pages })
          await segment.close()
          const again = await Segment.open(systemDisk, file, shape, false)
          for (let number = shape.firstBlock; number < shape.firstBlock + shape.blocks; number++)
            expect(again.has(number)).toBe(number >= first && number < end)
          const read = await again.read({ first, end })
          const wanted = document.subarray(from * block, (end - shape.firstBlock) * block)
          expect(Buffer.concat(read.flatMap(({ bytes }) => [...bytes])).equals(wanted)).toBe(true)
          await again.close()
        })
        await Promise.all(all)
      },
    ),
    { numRuns: 25 },
  )
  // Else nothing of this was tried.
  expect(past.length).toBeGreaterThan(0)
})

test('a large run goes past the pages but for its last bytes; a small one does not', async () => {
  const { disk, past } = watched((write) => write())
  const document = patternedBytes(shape.dataBytes, 'large')
  const segment = await Segment.open(disk, `${folder.path}/large`, shape, true)
  const pages = pagesOf(disk)
  await segment.write(blocksOf(document, 32, 39, []), { pastPages: pages })
  expect(past).toEqual([])
  await segment.write(blocksOf(document, 39, 56, []), { pastPages: pages })
  expect(past).toEqual([2 * MiB + 4096])
  expect((await contentOf(segment)).equals(document)).toBe(true)
  expect((await readFile(`${folder.path}/large`)).subarray(0, document.length).equals(document)).toBe(true)
  await segment.close()
})

test('a filesystem that refuses it is not asked again, and gets all of it through its pages', async () => {
  const seen = watched(() => Promise.reject(Object.assign(new Error('EINVAL'), { code: 'EINVAL' })))
  const document = patternedBytes(shape.dataBytes, 'refused')
  const segment = await Segment.open(seen.disk, `${folder.path}/refused`, shape, true)
  const pages = pagesOf(seen.disk)
  await segment.write(blocksOf(document, 32, 44, []), { pastPages: pages })
  await segment.write(blocksOf(document, 44, 56, []), { pastPages: pages })
  expect((await contentOf(segment)).equals(document)).toBe(true)
  expect(seen.opened).toBe(1)
  await segment.close()
})

test('where the disk took a part only, the rest goes through the pages', async () => {
  let writes = 0
  const { disk } = watched(async (write) => {
    const answer = await write()
    writes++
    return { bytesWritten: answer.bytesWritten / 2 }
  })
  const document = patternedBytes(shape.dataBytes, 'short')
  const segment = await Segment.open(disk, `${folder.path}/short`, shape, true)
  await segment.write(blocksOf(document, 32, 56, []), { pastPages: pagesOf(disk) })
  expect(writes).toBe(1)
  expect((await contentOf(segment)).equals(document)).toBe(true)
  await segment.close()
})

test('a disk that failed once is tried again', async () => {
  let opened = 0
  const disk: Disk = {
    ...systemDisk,
    openPastPages(path) {
      if (++opened > 1) return systemDisk.openPastPages(path)
      return Promise.reject(Object.assign(new Error('EMFILE'), { code: 'EMFILE' }))
    },
  }
  const document = patternedBytes(shape.dataBytes, 'once')
  const segment = await Segment.open(disk, `${folder.path}/once`, shape, true)
  const pages = pagesOf(disk)
  await segment.write(blocksOf(document, 32, 44, []), { pastPages: pages })
  await segment.write(blocksOf(document, 44, 56, []), { pastPages: pages })
  expect(opened).toBe(2)
  expect((await contentOf(segment)).equals(document)).toBe(true)
  await segment.close()
})

test('on a slow disk the kernel’s pages take it for a second', async () => {
  let nowMs = 0
  let msPerWrite = 0
  const { disk, past } = watched(async (write) => {
    nowMs += msPerWrite
    return write()
  })
  const document = patternedBytes(shape.dataBytes, 'slow')
  const segment = await Segment.open(disk, `${folder.path}/slow`, shape, true)
  const pages = pagesOf(disk, () => nowMs)
  const writeAll = () => segment.write(blocksOf(document, 32, 56, []), { pastPages: pages })
  // Late once or twice says nothing of the disk.
  for (msPerWrite of [0, 200, 200, 0, 200, 200, 200]) await writeAll()
  expect(past).toHaveLength(7)
  await writeAll()
  expect(past).toHaveLength(7)
  nowMs += 1_000
  await writeAll()
  expect(past).toHaveLength(8)
  expect((await contentOf(segment)).equals(document)).toBe(true)
  await segment.close()
})

test('what is more than the memory is written in parts', async () => {
  const large = { firstBlock: 0, blocks: 70, dataBytes: 70 * block }
  const { disk, past } = watched((write) => write())
  const document = patternedBytes(large.dataBytes, 'more')
  const segment = await Segment.open(disk, `${folder.path}/more`, large, true)
  const blocks = Array.from({ length: 70 }, (_, at) => ({
    block: at,
    tag,
    bytes: [document.subarray(at * block, (at + 1) * block)],
  }))
  await segment.write(blocks, { pastPages: pagesOf(disk) })
  expect(past).toEqual([4 * MiB, 4 * MiB, 70 * block - 8 * MiB])
  const read = await segment.read({ first: 0, end: 70 })
  expect(Buffer.concat(read.flatMap(({ bytes }) => [...bytes])).equals(document)).toBe(true)
  await segment.close()
})
