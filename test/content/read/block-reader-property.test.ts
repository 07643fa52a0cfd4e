// Whatever is read in whatever order, with whatever going wrong, and however much is remembered: a read answers the
// document's own bytes, or an error. Never others.

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Borrowed } from '../../../src/content/block-uses.ts'
import type { Reading } from '../../../src/content/read/reader.ts'
import type { Fault } from '../../support/faults/fault.ts'
import { never, readBytes as readAtOnce, setUpReading } from './reading-setup.ts'
import type { ReadingSetup } from './reading-setup.ts'

const KiB = 1024
const MiB = 1024 * KiB

let setup: ReadingSetup
beforeAll(async () => {
  setup = await setUpReading()
})
afterAll(() => setup.close())

const sizes = fc.oneof(
  fc.nat(300 * KiB),
  fc.constantFrom(1, 128 * KiB, 128 * KiB + 1, MiB, MiB + 1, 4 * MiB, 4 * MiB + 1),
  fc.integer({ min: MiB, max: 12 * MiB }),
)

/** A way to read: where to start, by how much, how many times, forwards or not. */
const passes = fc.array(
  fc.record({
    handle: fc.nat(2),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.oneof(fc.constantFrom(4 * KiB, 128 * KiB), fc.integer({ min: 1, max: MiB })),
    count: fc.integer({ min: 1, max: 12 }),
    stride: fc.constantFrom('next', 'next', 'next', 'back', 'same', 'jump'),
    atOnce: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

const memory = fc.constantFrom(0, 128 * KiB, MiB, 64 * MiB)
const disk = fc.constantFrom(0, MiB, 6 * MiB, 64 * MiB)

const faults: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant('cut-response' as const), afterBytes: fc.integer({ min: 0, max: 2 * MiB }) }),
  fc.record({ kind: fc.constant('status' as const), status: fc.constantFrom(500, 503) }),
  fc.constant({ kind: 'ignore-range' as const }),
  fc.constant({ kind: 'expired-url' as const }),
  fc.record({ kind: fc.constant('latency' as const), ms: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ kind: fc.constant('slow-drip' as const), bytesPerSecond: fc.constantFrom(20 * MiB, 80 * MiB) }),
)

interface Replacement {
  readonly isSameSize: boolean
  readonly isDisguised: boolean
  readonly memoryBytes: number
  readonly after: number
}

/** Bytes that stand for the answer of a read that failed. */
const nothing = Buffer.alloc(0)

interface Pass {
  readonly handle: number
  readonly at: number
  readonly length: number
  readonly count: number
  readonly stride: string
  readonly atOnce: boolean
}

function offsetsOf({ at, length, count, stride }: Pass, size: number): number[] {
  const start = Math.floor(at * size)
  const step = { next: length, back: -length, same: 0, jump: 3 * length + 1 }[stride] ?? 0
  return Array.from({ length: count }, (_, index) => Math.max(0, start + index * step))
}

/** Runs the passes on three handles; every answer is compared by `isRight`. */
async function run(
  readings: readonly { read: (offset: number, length: number) => Promise<Buffer> }[],
  work: readonly Pass[],
  size: number,
  isRight: (bytes: Buffer, offset: number, length: number) => boolean,
): Promise<void> {
  for (const pass of work) {
    const reads = offsetsOf(pass, size).map((offset) => async () => {
      const bytes = await readings[pass.handle]?.read(offset, pass.length)
      if (bytes !== undefined) {
        expect(isRight(bytes, offset, pass.length), `bytes at ${offset} + ${pass.length}`).toBe(true)
      }
    })
    if (pass.atOnce) await Promise.all(reads.map((read) => read()))
    else for (const read of reads) await read()
  }
}

let reads = 0

/** One read, joined: by every other one at once, by the others some turns of the event loop later. */
async function readBytes(reading: Reading, offset: number, length: number): Promise<Buffer> {
  if (++reads % 2 === 0) return readAtOnce(reading, offset, length)
  const borrowed = new Borrowed()
  try {
    const turns = reads % 7
    const answer = await reading.read(offset, length, { signal: never, borrowed })
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
    return Buffer.concat(answer)
  } finally {
    borrowed.end()
  }
}

let serial = 0

test('reads give the bytes of the document, through any faults that pass', async () => {
  await fc.assert(
    fc.asyncProperty(
      sizes,
      passes,
      memory,
      disk,
      fc.uniqueArray(faults, { maxLength: 3, selector: ({ kind }) => kind }),
      async (size, work, memoryBytes, cacheSizeBytes, kinds) => {
        const { version, file, bytes } = await setup.store(`/property-${serial}.bin`, size)
        setup.urls.remember(version.path, file, Date.now())
        const options = { cacheDir: `${setup.folder}/property-${serial++}`, memoryBytes, cacheSizeBytes }
        for (const fault of kinds) {
          // A URL refused twice in a row is an error.
          const times = fault.kind === 'expired-url' ? 1 : 2
          setup.service.faults.inject(fault, { endpoint: 'download', times })
        }
        // The second reader finds what the first one left on disk.
        for (const reader of [setup.reader(options), setup.reader(options)]) {
          const readings = Array.from({ length: 3 }, () => reader.open(version)).map((reading) => ({
            read: (offset: number, length: number) => readBytes(reading, offset, length),
            close: () => reading.close(),
          }))
          await run(readings, work, size, (read, offset, length) =>
            read.equals(bytes.subarray(offset, offset + length)),
          )
          for (const reading of readings) reading.close()
          await reader.close()
        }
        setup.service.faults.clear()
        await setup.files.delete(version.path)
      },
    ),
    { numRuns: 40 },
  )
})

/** Replacements of the document by another client: when, and how well hidden. */
const replacements = fc.record({
  isSameSize: fc.boolean(),
  /** The old version's URL gives the new bytes: only size and ETag of the answers tell. */
  isDisguised: fc.boolean(),
  memoryBytes: memory,
  after: fc.nat(3),
})

async function replaceWhileRead(
  size: number,
  work: readonly Pass[],
  replacement: Replacement,
): Promise<void> {
  const { isSameSize, isDisguised, memoryBytes, after } = replacement
  const path = `/replaced-${serial++}.bin`
  const old = await setup.store(path, size, 'old')
  setup.urls.remember(path, old.file, Date.now())
  const reader = setup.reader({ memoryBytes, cacheDir: `${setup.folder}/replaced-${serial}` })
  const reading = reader.open(old.version)
  const isOld = (read: Buffer, offset: number, length: number): boolean =>
    read === nothing || read.equals(old.bytes.subarray(offset, offset + length))
  const readings = Array.from({ length: 3 }, () => ({
    read: async (offset: number, length: number) => {
      try {
        return await readBytes(reading, offset, length)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ESTALE' })
        return nothing
      }
    },
  }))
  // The first byte: from here on the reader knows the old version's ETag.
  await readBytes(reading, 0, 1)
  await run(readings, work.slice(0, after), size, isOld)
  const replacing = setup.store(path, isSameSize ? size : size + 1, 'new').then((fresh) => {
    const { modifiedAt } = old.file
    if (isDisguised) setup.urls.remember(path, { ...fresh.file, size, modifiedAt }, Date.now() + 1000)
    return fresh
  })
  await run(readings, work.slice(after), size, isOld)
  const fresh = await replacing
  await run(readings, work, size, isOld)
  setup.urls.remember(path, fresh.file, Date.now() + 2000)
  const whole = await readBytes(reader.open(fresh.version), 0, size + 1)
  expect(whole.equals(fresh.bytes)).toBe(true)
  await reader.close()
}

test('a document replaced meanwhile is the old one or ESTALE, never a mixture', async () => {
  const sizes = fc.integer({ min: MiB, max: 8 * MiB })
  await fc.assert(fc.asyncProperty(sizes, passes, replacements, replaceWhileRead), { numRuns: 25 })
})
