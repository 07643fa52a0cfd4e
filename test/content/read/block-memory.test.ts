// Memory of received blocks is received into again once its last use has ended, and no sooner: a document of 24 MiB is read through
// a memory of 8, and each holder of blocks in turn is the only one that still has them.

import { open, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Borrowed } from '../../../src/content/block-uses.ts'
import type { Reader, Reading } from '../../../src/content/read/reader.ts'
import { never, rangesOf, setUpReading } from './reading-setup.ts'
import type { ReadingSetup, StoredDocument } from './reading-setup.ts'

const KiB = 1024
const MiB = 1024 * KiB
const memoryBytes = 8 * MiB

let setup: ReadingSetup
let large: StoredDocument
/** Each stays in the cache until the others have come. */
let small: [StoredDocument, ...StoredDocument[]]
beforeAll(async () => {
  setup = await setUpReading()
  large = await setup.store('/large.bin', 24 * MiB)
  const stored = (number: number): Promise<StoredDocument> => setup.store(`/small-${number}.bin`, MiB)
  small = [await stored(0), ...(await Promise.all(Array.from({ length: 11 }, (_, i) => stored(i + 1))))]
})
afterAll(() => setup.close())

/** Reads as the kernel's door does: the bytes are copied, and the read's use of them ends. */
async function readAndEnd(reading: Reading, offset: number, length: number): Promise<Buffer> {
  const borrowed = new Borrowed()
  try {
    return Buffer.concat(await reading.read(offset, length, { signal: never, borrowed }))
  } finally {
    borrowed.end()
  }
}

/** Reads all of it, in order. Returns the offsets at which the bytes were others. */
async function wrongOf(reader: Reader, { version, bytes }: StoredDocument): Promise<number[]> {
  const reading = reader.open(version)
  const wrong: number[] = []
  for (let at = 0; at < bytes.length; at += 128 * KiB) {
    const read = await readAndEnd(reading, at, 128 * KiB)
    if (!read.equals(bytes.subarray(at, at + 128 * KiB))) wrong.push(at)
  }
  reading.close()
  return wrong
}

test('a block that waits for the disk is written as it was received', async () => {
  const options = { memoryBytes, cacheDir: `${setup.folder}/waiting` }
  const reader = setup.reader(options)
  expect(await wrongOf(reader, large)).toEqual([])
  await reader.close()
  setup.service.clearCalls()
  expect(await wrongOf(setup.reader(options), large)).toEqual([])
  const downloaded = rangesOf(setup.service).reduce((sum, [, length]) => sum + length, 0)
  expect(downloaded).toBeLessThan(large.bytes.length)
})

const cases = ['waited for', 'found in memory'].flatMap((how) => [
  { how, whose: 'that tells its end', borrowed: new Borrowed() },
  { how, whose: 'that does not tell its end', borrowed: undefined },
])
test.for(cases)('bytes of a read $whose, $how, stay as they are', async ({ how, borrowed }) => {
  const reader = setup.reader({ memoryBytes, cacheSizeBytes: 0 })
  const [{ version, bytes }, ...others] = small
  const reading = reader.open(version)
  if (how === 'found in memory') await readAndEnd(reading, 0, MiB)
  const read = await reading.read(0, MiB, { signal: never, borrowed })
  for (const other of others) expect(await wrongOf(reader, other)).toEqual([])
  expect(Buffer.concat(read).equals(bytes)).toBe(true)
  borrowed?.end()
  reading.close()
})

test('a backup in memory keeps the blocks that the document had', async () => {
  const reader = setup.reader({ memoryBytes, cacheSizeBytes: 0 })
  const [{ version, bytes }] = small
  const reading = reader.open(version)
  expect((await readAndEnd(reading, 0, MiB)).equals(bytes)).toBe(true)
  reading.close()
  reader.backUpBlocks(version)
  await reader.forget(version.path)
  // Less than would put the backup out of the cache.
  for (const other of small.slice(1, 4)) expect(await wrongOf(reader, other)).toEqual([])
  const copy = await open(`${setup.folder}/copy`, 'w+')
  expect(await reader.copyBackup(version, copy.fd)).toBe(true)
  expect((await readFile(`${setup.folder}/copy`)).equals(bytes)).toBe(true)
  await copy.close()
})
