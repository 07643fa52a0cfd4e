import { systemDisk, type Disk } from '../../../src/world/disk.ts'
import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Segment } from '../../../src/content/disk/segment.ts'
import { entryBytes, pieceBytes, tagOf } from '../../../src/content/disk/segment-table.ts'
import { patternedBytes } from '../../support/bytes.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import type { TemporaryFolder } from '../../support/temporary-folder.ts'

const block = 128 * 1024
const shape = { firstBlock: 64, blocks: 4, dataBytes: 3 * block + 5_000 }
const document = patternedBytes(shape.dataBytes, 'segment')
const tag = tagOf('"some etag"')

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await makeTemporaryFolder()
})
afterAll(() => folder.remove())

function stored(number: number): { block: number; bytes: Buffer[]; tag: number } {
  const at = (number - shape.firstBlock) * block
  const bytes = document.subarray(at, at + block)
  return { block: number, bytes: [bytes.subarray(0, 1000), bytes.subarray(1000)], tag }
}

test('blocks written in any order are there after reopening; the others are absent', async () => {
  const file = `${folder.path}/order`
  const segment = await Segment.open(systemDisk, file, shape, true)
  await segment.write([stored(67)])
  await segment.write([stored(64), stored(65)])
  await segment.close()
  const again = await Segment.open(systemDisk, file, shape, false)
  expect([64, 65, 66, 67].map((number) => again.has(number))).toEqual([true, true, false, true])
  const blocks = await again.read({ first: 64, end: 66 })
  expect(blocks.map((one) => [one.block, one.tag])).toEqual([
    [64, tag],
    [65, tag],
  ])
  expect(Buffer.concat(blocks.flatMap(({ bytes }) => bytes)).equals(document.subarray(0, 2 * block))).toBe(
    true,
  )
  expect((await again.read({ first: 67, end: 68 }))[0]?.bytes[0]?.length).toBe(5_000)
  await again.close()
})

test('two that have the same file open see what they wrote, and spoil nothing of each other', async () => {
  const file = `${folder.path}/both`
  const one = await Segment.open(systemDisk, file, shape, true)
  const other = await Segment.open(systemDisk, file, shape, true)
  await one.write([stored(64)])
  await other.write([stored(66)])
  expect(one.has(66)).toBe(false)
  const fresh = await Segment.open(systemDisk, file, shape, false)
  expect([64, 65, 66, 67].map((number) => fresh.has(number))).toEqual([true, false, true, false])
  await Promise.all([one.close(), other.close(), fresh.close()])
})

test('a read ends before the first damaged block, which is absent from then on', async () => {
  const file = `${folder.path}/damaged`
  const segment = await Segment.open(systemDisk, file, shape, true)
  await segment.write([stored(64), stored(65), stored(66)])
  const bytes = await readFile(file)
  bytes[block + 77] = (bytes[block + 77] ?? 0) ^ 1
  await writeFile(file, bytes)
  expect((await segment.read({ first: 64, end: 67 })).map((one) => one.block)).toEqual([64])
  expect([64, 65, 66].map((number) => segment.has(number))).toEqual([true, false, true])
  await segment.close()
})

test('a part is read with no more than the pieces it is in, and checked with them alone', async () => {
  const file = `${folder.path}/parts`
  const segment = await Segment.open(systemDisk, file, shape, true)
  await segment.write([stored(64)])
  await segment.write([stored(67)])
  const bytes = await readFile(file)
  // In the third piece of the first block.
  bytes[2 * pieceBytes + 5] = (bytes[2 * pieceBytes + 5] ?? 0) ^ 1
  await writeFile(file, bytes)
  const part = async (number: number, from: number, to: number): Promise<Uint8Array | undefined> => {
    return (await segment.readPart({ block: number, from, to }))?.bytes
  }
  const expected = (number: number, from: number, to: number): Buffer => {
    const at = (number - shape.firstBlock) * block
    return document.subarray(at + from, at + to)
  }
  for (const [from, to] of [
    [0, 4096],
    [4096, 2 * pieceBytes],
    [pieceBytes - 10, pieceBytes + 10],
    [3 * pieceBytes, block],
  ] as const)
    expect(await part(64, from, to)).toEqual(expected(64, from, to))
  expect(await part(67, 4_000, 5_000)).toEqual(expected(67, 4_000, 5_000))
  expect(await segment.readPart({ block: 64, from: 0, to: 1 })).toMatchObject({ tag })
  expect(await part(64, pieceBytes, 2 * pieceBytes + 1)).toBeUndefined()
  expect(segment.has(64)).toBe(false)
  await segment.close()
})

test('an entry that is torn is none', async () => {
  const file = `${folder.path}/torn`
  const segment = await Segment.open(systemDisk, file, shape, true)
  await segment.write([stored(64), stored(65)])
  await segment.close()
  const bytes = await readFile(file)
  const table = Math.ceil(shape.dataBytes / 16) * 16
  bytes[table + entryBytes + 12] = (bytes[table + entryBytes + 12] ?? 0) ^ 1
  await writeFile(file, bytes)
  const again = await Segment.open(systemDisk, file, shape, false)
  expect([64, 65].map((number) => again.has(number))).toEqual([true, false])
  await again.close()
})

test('untagged blocks are the same bytes without an ETag', async () => {
  const file = `${folder.path}/untagged`
  const segment = await Segment.open(systemDisk, file, shape, true)
  await segment.write([stored(64), stored(65)])
  await segment.forgetEtags()
  await segment.close()
  const again = await Segment.open(systemDisk, file, shape, false)
  const blocks = await again.read({ first: 64, end: 66 })
  expect(blocks.map((one) => one.tag)).toEqual([0, 0])
  expect(again.has(66)).toBe(false)
  await again.close()
})

test('a trusted file is served at once, and after sealing also by the next one who opens it', async () => {
  const file = `${folder.path}/trusted`
  await writeFile(file, document)
  const segment = await Segment.open(systemDisk, file, shape, false)
  expect(segment.has(64)).toBe(false)
  segment.trust()
  expect((await segment.read({ first: 64, end: 68 })).length).toBe(4)
  const unsealed = await Segment.open(systemDisk, file, shape, false)
  expect(unsealed.has(64)).toBe(false)
  await segment.seal()
  const sealed = await Segment.open(systemDisk, file, shape, false)
  const blocks = await sealed.read({ first: 64, end: 68 })
  expect(Buffer.concat(blocks.flatMap(({ bytes }) => bytes)).equals(document)).toBe(true)
  await Promise.all([segment.close(), unsealed.close(), sealed.close()])
})

test('an ETag stands for a number that is never 0', () => {
  expect(tagOf(undefined)).toBe(0)
  expect(tagOf('')).toBeGreaterThan(0)
  expect(tagOf('"a"')).not.toBe(tagOf('"b"'))
})

test('what is to be here for good is on disk before its entry says so', async () => {
  const calls: string[] = []
  const open: Disk['open'] = async (...given) => {
    const handle = await systemDisk.open(...given)
    return {
      ...handle,
      fd: handle.fd,
      read: (...read) => handle.read(...read),
      writev: (pieces, position) => {
        calls.push(position !== undefined && position >= shape.dataBytes ? 'entry' : 'bytes')
        return handle.writev(pieces, position)
      },
      sync: () => {
        calls.push('sync')
        return handle.sync()
      },
      close: () => handle.close(),
    }
  }
  const segment = await Segment.open({ ...systemDisk, open }, `${folder.path}/sure`, shape, true)
  await segment.write([stored(67)], { isSure: true })
  expect(calls).toEqual(['bytes', 'sync', 'entry'])
  await segment.close()
})
