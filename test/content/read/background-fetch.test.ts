// A document that is read here and there: its rest is fetched as far as its readers have paid for it by waiting.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Reading } from '../../../src/content/read/reader.ts'
import { rangesOf, readBytes, setUpReading } from './reading-setup.ts'
import type { ReadingSetup, StoredDocument } from './reading-setup.ts'

const KiB = 1024
const MiB = 1024 * KiB

let setup: ReadingSetup
beforeAll(async () => {
  setup = await setUpReading()
})
afterEach(() => setup.service.faults.clear())
afterAll(() => setup.close())

async function farAway(path: string, size: number): Promise<StoredDocument> {
  const document = await setup.store(path, size)
  setup.service.faults.inject({ kind: 'latency', ms: 40 }, { endpoint: 'download' })
  setup.service.clearCalls()
  return document
}

/** Reads 4 KiB at the `index`-th of many places that follow no pattern, and holds it against what was stored. */
async function readSomewhere(reading: Reading, { bytes }: StoredDocument, index: number): Promise<void> {
  const pages = bytes.length / (4 * KiB)
  const offset = ((Math.imul(index + 1, 2_654_435_761) >>> 0) % pages) * 4 * KiB
  const read = await readBytes(reading, offset, 4 * KiB)
  expect(read.equals(bytes.subarray(offset, offset + 4 * KiB))).toBe(true)
}

/** After how many reads 30 in a row needed nothing of the service. Fetching only what is read takes some 600. */
async function readsUntilHere(read: (index: number) => Promise<void>): Promise<number> {
  for (let index = 0, quiet = 0; index < 1_000; index++) {
    const before = rangesOf(setup.service).length
    await read(index)
    quiet = rangesOf(setup.service).length === before ? quiet + 1 : 0
    if (quiet === 30) return index
  }
  throw new Error('it never was')
}

describe('a document far away that is read here and there', () => {
  test('is here after a while, asked for in few pieces', async () => {
    const document = await farAway('/random.bin', 24 * MiB)
    const reading = setup.reader().open(document.version)
    expect(await readsUntilHere((index) => readSomewhere(reading, document, index))).toBeLessThan(300)
    const pieces = rangesOf(setup.service).filter(([, length]) => length > 128 * KiB)
    expect(pieces.length).toBeGreaterThan(0)
    reading.close()
  })

  test('forwards with gaps, too', async () => {
    const document = await farAway('/gaps.bin', 24 * MiB)
    const reading = setup.reader().open(document.version)
    let offset = 0
    let ranges = 0
    for (; offset + 4 * KiB <= document.bytes.length; offset += 300 * KiB) {
      const read = await readBytes(reading, offset, 4 * KiB)
      expect(read.equals(document.bytes.subarray(offset, offset + 4 * KiB))).toBe(true)
      ranges = rangesOf(setup.service).length
    }
    expect(ranges).toBeLessThan(document.bytes.length / (300 * KiB) / 2)
    reading.close()
  })

  test('by many who open and close it for one read each, too', async () => {
    const document = await farAway('/opened-often.bin', 24 * MiB)
    const reader = setup.reader()
    const once = async (index: number): Promise<void> => {
      const reading = reader.open(document.version)
      await readSomewhere(reading, document, index)
      reading.close()
    }
    // Somebody has it open all the time, or every close would end what was asked for.
    const other = reader.open(document.version)
    expect(await readsUntilHere(once)).toBeLessThan(300)
    other.close()
  })

  test('is left in the service where only its head and its tail are looked at', async () => {
    const { version, bytes } = await farAway('/archive.zip', 24 * MiB)
    const reading = setup.reader().open(version)
    await readBytes(reading, 0, 4 * KiB)
    await readBytes(reading, bytes.length - 4 * KiB, 4 * KiB)
    reading.close()
    expect(rangesOf(setup.service)).toEqual([
      [0, 256 * KiB],
      [bytes.length - 128 * KiB, 128 * KiB],
    ])
  })

  test('is left in the service where it could not be kept', async () => {
    const document = await farAway('/too-large.bin', 24 * MiB)
    const reading = setup.reader({ cacheSizeBytes: 32 * MiB, memoryBytes: 16 * MiB }).open(document.version)
    for (let index = 0; index < 40; index++) await readSomewhere(reading, document, index)
    reading.close()
    expect(rangesOf(setup.service).every(([, length]) => length === 128 * KiB)).toBe(true)
  })

  test('is fetched no further when it is closed', async () => {
    const document = await farAway('/closed.bin', 64 * MiB)
    setup.service.faults.inject({ kind: 'slow-drip', bytesPerSecond: 4 * MiB }, { endpoint: 'download' })
    const reading = setup.reader().open(document.version)
    const isBuying = (): boolean => rangesOf(setup.service).some(([, length]) => length > 128 * KiB)
    for (let index = 0; index < 1_000 && !isBuying(); index++) await readSomewhere(reading, document, index)
    reading.close()
    setup.service.faults.clear()
    const asked = rangesOf(setup.service)
    expect(asked.length).toBeGreaterThan(0)
    // Another document's read goes through the same queue: what was still to be asked for would have been by then.
    const after = await setup.store('/after.bin', 2 * MiB)
    await readBytes(setup.reader().open(after.version), 0, 4 * KiB)
    expect(rangesOf(setup.service).length).toBeLessThanOrEqual(asked.length + 2)
  })
})
