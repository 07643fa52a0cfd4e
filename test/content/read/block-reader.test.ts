// The reading side against the real service: how many requests, how large, and what a reader sees when things go wrong.

import { fastWorld } from '../../support/fast-world.ts'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Files } from '../../../src/api/types.ts'
import { PresignedUrls } from '../../../src/content/read/presigned-urls.ts'
import { startFlakyProxy } from '../../support/flaky-proxy.ts'
import type { FlakyProxy } from '../../support/flaky-proxy.ts'
import { waitUntil } from '../../support/wait-until.ts'
import { never, rangesOf, readAll, readBytes, setUpReading } from './reading-setup.ts'
import type { ReadingSetup, StoredDocument } from './reading-setup.ts'

const KiB = 1024
const MiB = 1024 * KiB

let setup: ReadingSetup
beforeAll(async () => {
  setup = await setUpReading()
})
afterEach(() => setup.service.faults.clear())
afterAll(() => setup.close())

/** A reader without a disk cache: every test sees its own requests. */
function memoryReader(): ReturnType<ReadingSetup['reader']> {
  return setup.reader({ cacheSizeBytes: 0 })
}

describe('requests', () => {
  test('a listed small document costs one range and no call', async () => {
    const { version, file, bytes } = await setup.store('/small.txt', 700 * KiB)
    setup.urls.remember(version.path, file, Date.now())
    setup.service.clearCalls()
    const reading = memoryReader().open(version)
    expect((await readBytes(reading, 300 * KiB, 10)).equals(bytes.subarray(300 * KiB, 300 * KiB + 10))).toBe(
      true,
    )
    expect((await readAll(reading)).equals(bytes)).toBe(true)
    expect(setup.service.calls.map(({ endpoint }) => endpoint)).toEqual(['download'])
    expect(rangesOf(setup.service)).toEqual([[0, 700 * KiB]])
  })

  test('a URL nobody told is one call for all readers', async () => {
    const { version, bytes } = await setup.store('/unlisted.txt', 10 * KiB)
    setup.urls.forget(version.path)
    setup.service.clearCalls()
    const reader = memoryReader()
    const readings = Array.from({ length: 8 }, () => reader.open(version))
    const all = await Promise.all(readings.map((reading) => readBytes(reading, 0, 20 * KiB)))
    expect(all.every((one) => one.equals(bytes))).toBe(true)
    expect(setup.service.calls.map(({ endpoint }) => endpoint)).toEqual(['files', 'download'])
  })

  test('an empty document costs nothing', async () => {
    const { version } = await setup.store('/empty.txt', 0)
    setup.service.clearCalls()
    expect(await readAll(memoryReader().open(version))).toHaveLength(0)
    expect(setup.service.calls).toHaveLength(0)
  })

  test('the first 64 KiB of a large document cost one range of 256 KiB', async () => {
    const { version, bytes } = await setup.store('/large.bin', 9 * MiB)
    setup.service.clearCalls()
    const reading = memoryReader().open(version)
    expect((await readBytes(reading, 0, 64 * KiB)).equals(bytes.subarray(0, 64 * KiB))).toBe(true)
    reading.close()
    expect(rangesOf(setup.service)).toEqual([[0, 256 * KiB]])
  })

  test('random 4 KiB reads fetch one block each', async () => {
    const { version, bytes } = await setup.store('/random.bin', 40 * MiB)
    setup.service.clearCalls()
    const reading = memoryReader().open(version)
    for (let index = 1; index <= 20; index++) {
      const offset = ((index * 7_919) % 9_000) * 4 * KiB + 2 * MiB
      const read = await readBytes(reading, offset, 4 * KiB)
      expect(read.equals(bytes.subarray(offset, offset + 4 * KiB))).toBe(true)
    }
    reading.close()
    const ranges = rangesOf(setup.service)
    expect(ranges.length).toBeLessThanOrEqual(20)
    expect(ranges.every(([, length]) => length === 128 * KiB)).toBe(true)
  })

  test('a sequential reader gets every byte once, in few large ranges', async () => {
    const { version, bytes } = await setup.store('/sequential.bin', 40 * MiB)
    setup.service.clearCalls()
    const reading = memoryReader().open(version)
    expect((await readAll(reading)).equals(bytes)).toBe(true)
    const ranges = rangesOf(setup.service)
    expect(ranges.reduce((sum, [, length]) => sum + length, 0)).toBe(40 * MiB)
    expect(ranges.length).toBeLessThan(25)
  })

  test('a reader that jumps forwards inside a block gets every byte once, in few large ranges', async () => {
    const { version, bytes } = await setup.store('/scanned.pdf', 34 * MiB)
    setup.service.clearCalls()
    const reading = memoryReader().open(version)
    for (let offset = 0; offset < bytes.length; offset += 68 * KiB) {
      const read = await readBytes(reading, offset, 4 * KiB)
      expect(read.equals(bytes.subarray(offset, offset + 4 * KiB))).toBe(true)
    }
    const ranges = rangesOf(setup.service)
    expect(ranges.reduce((sum, [, length]) => sum + length, 0)).toBe(34 * MiB)
    expect(ranges.length).toBeLessThan(25)
  })

  test('a reader that stops leaves what it does not need yet on the network', async () => {
    const { version, bytes } = await setup.store('/stopping.bin', 40 * MiB)
    let arrived = 0
    const files: Files = {
      ...setup.files,
      async download(url, path, range, options) {
        const download = await setup.files.download(url, path, range, options)
        return { ...download, chunks: counted(download.chunks, (length) => (arrived += length)) }
      },
    }
    // Half of the memory is for read-ahead: 4 MiB.
    const reading = setup.reader({ files, cacheSizeBytes: 0, memoryBytes: 8 * MiB }).open(version)
    for (let offset = 0; offset < 10 * MiB; offset += 128 * KiB) await readBytes(reading, offset, 128 * KiB)
    await sleep(300)
    expect(arrived).toBeGreaterThanOrEqual(10 * MiB)
    expect(arrived).toBeLessThanOrEqual(15 * MiB)
    expect((await readAll(reading)).equals(bytes)).toBe(true)
  })

  test('two readers of one document fetch it once', async () => {
    const { version, bytes } = await setup.store('/shared.bin', 5 * MiB)
    setup.service.clearCalls()
    const reader = memoryReader()
    const both = await Promise.all([readAll(reader.open(version)), readAll(reader.open(version))])
    expect(both.every((one) => one.equals(bytes))).toBe(true)
    expect(rangesOf(setup.service).reduce((sum, [, length]) => sum + length, 0)).toBe(5 * MiB)
  })

  test('a block in memory is answered at once, without a promise and without a copy', async () => {
    const { version } = await setup.store('/warm.txt', 100 * KiB)
    const reader = memoryReader()
    const reading = reader.open(version)
    const first = await reading.read(0, 128 * KiB, { signal: never })
    const again = reading.read(0, 128 * KiB, { signal: never })
    expect(Array.isArray(again)).toBe(true)
    expect((again as Uint8Array[])[0]?.buffer).toBe(first[0]?.buffer)
  })

  test('a prefetched document is opened without a request', async () => {
    const { version, bytes } = await setup.store('/sibling.txt', 50 * KiB)
    const reader = memoryReader()
    reader.prefetch(version, 50 * KiB)
    const reading = reader.open(version)
    await waitUntil('the prefetch has come', () => Array.isArray(reading.read(0, 1, { signal: never })))
    setup.service.clearCalls()
    expect((await readAll(reading)).equals(bytes)).toBe(true)
    expect(setup.service.calls).toHaveLength(0)
  })

  test.each([128 * KiB, 256 * KiB])(
    'of a large document the first %i bytes are prefetched, and no more is read ahead of who stays within them',
    async (bytes) => {
      const { version } = await setup.store('/head-only.bin', 2 * MiB)
      setup.service.clearCalls()
      const reader = memoryReader()
      reader.prefetch(version, bytes)
      const reading = reader.open(version)
      const read = (): boolean => Array.isArray(reading.read(0, 128 * KiB, { signal: never }))
      await waitUntil('the prefetch has come', read)
      expect(rangesOf(setup.service)).toEqual([[0, bytes]])
    },
  )
})

/** The same chunks, each counted as it is taken. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  count: (length: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    count(chunk.length)
    yield chunk
  }
}

describe('faults', () => {
  test('a cut answer is resumed where it stopped', async () => {
    const { version, bytes } = await setup.store('/cut.bin', 900 * KiB)
    setup.service.clearCalls()
    setup.service.faults.inject(
      { kind: 'cut-response', afterBytes: 333_333 },
      { endpoint: 'download', times: 2 },
    )
    expect((await readAll(memoryReader().open(version))).equals(bytes)).toBe(true)
    const ranges = rangesOf(setup.service)
    expect(ranges).toHaveLength(3)
    for (const [index, [offset]] of ranges.entries()) {
      expect(offset).toBeLessThanOrEqual(index * 333_333)
      if (index > 0) expect(offset).toBeGreaterThan(ranges[index - 1]?.[0] ?? 0)
    }
  })

  test('a server error is tried again', async () => {
    const { version, bytes } = await setup.store('/500.bin', 300 * KiB)
    setup.service.faults.inject({ kind: 'status', status: 503 }, { endpoint: 'download', times: 3 })
    expect((await readAll(memoryReader().open(version))).equals(bytes)).toBe(true)
  })

  test('an expired URL is renewed once, inside the same read, for all readers together', async () => {
    const { version, file, bytes } = await setup.store('/expired.bin', 3 * MiB)
    setup.urls.remember(version.path, file, Date.now())
    const reader = memoryReader()
    setup.service.clearCalls()
    setup.service.faults.inject({ kind: 'expired-url' }, { endpoint: 'download', times: 3 })
    const offsets = [0, MiB, 2 * MiB]
    const parts = await Promise.all(
      offsets.map((offset) => readBytes(reader.open(version), offset, 128 * KiB)),
    )
    for (const [index, offset] of offsets.entries()) {
      expect(parts[index]?.equals(bytes.subarray(offset, offset + 128 * KiB))).toBe(true)
    }
    expect(setup.service.calls.filter(({ endpoint }) => endpoint === 'files')).toHaveLength(1)
  })

  test('a URL that is refused again and again is an error, not a loop', async () => {
    const { version } = await setup.store('/refused.bin', 10 * KiB)
    setup.service.clearCalls()
    setup.service.faults.inject({ kind: 'expired-url' }, { endpoint: 'download' })
    await expect(readAll(memoryReader().open(version))).rejects.toThrow(
      'EIO: /refused.bin: its download link was refused twice',
    )
    expect(setup.service.calls.filter(({ endpoint }) => endpoint === 'download')).toHaveLength(2)
  })

  test('a caller who may not ask for the URL is told so', async () => {
    const { version } = await setup.store('/forbidden.bin', 10 * KiB)
    setup.urls.forget(version.path)
    setup.service.faults.inject({ kind: 'status', status: 403 }, { endpoint: 'files' })
    await expect(readAll(memoryReader().open(version))).rejects.toMatchObject({
      name: 'ApiError',
      status: 403,
    })
  })

  test('a server that ignores ranges gives the right bytes all the same', async () => {
    const { version, bytes } = await setup.store('/no-ranges.bin', 3 * MiB)
    setup.service.faults.inject({ kind: 'ignore-range' }, { endpoint: 'download' })
    const reading = memoryReader().open(version)
    const read = await readBytes(reading, 2 * MiB + 5, 1000)
    expect(read.equals(bytes.subarray(2 * MiB + 5, 2 * MiB + 1005))).toBe(true)
    expect((await readAll(reading)).equals(bytes)).toBe(true)
  })

  test('a document of a server that ignores ranges is waited for while bytes come, wanted or not', async () => {
    const { version, bytes } = await setup.store('/slow-no-ranges.bin', 2 * MiB)
    setup.service.faults.inject({ kind: 'ignore-range' }, { endpoint: 'download' })
    // A clock four times as fast: four seconds for what comes before are sixteen, and seven without a byte are too many.
    setup.service.faults.inject({ kind: 'slow-drip', bytesPerSecond: MiB / 2 }, { endpoint: 'download' })
    const reader = setup.reader({ cacheSizeBytes: 0, world: fastWorld(4) })
    const read = await readBytes(reader.open(version), 2 * MiB - 1000, 1000)
    expect(read.equals(bytes.subarray(-1000))).toBe(true)
  })

  test('an answer that is another document, and does not tell its size, leaves nothing behind', async () => {
    const { version, bytes } = await setup.store('/mistaken.bin', 3 * MiB)
    const body = 'x'.repeat(2 * MiB)
    const target = { endpoint: 'download', times: 1 } as const
    setup.service.faults.inject({ kind: 'page', body, isSized: false, etag: '"another"' }, target)
    const reader = setup.reader()
    const read = await readBytes(reader.open(version), 0, 1000)
    expect(read.equals(bytes.subarray(0, 1000))).toBe(true)
    expect((await readAll(reader.open(version))).equals(bytes)).toBe(true)
  })

  test('a document replaced while it is read is ESTALE, and the tree is told', async () => {
    const old = await setup.store('/replaced.bin', 6 * MiB, 'old')
    const reader = setup.reader()
    const reading = reader.open(old.version)
    await readBytes(reading, 0, 128 * KiB)
    const fresh = await setup.store('/replaced.bin', 6 * MiB, 'new')
    await expect(readBytes(reading, 5 * MiB, 128 * KiB)).rejects.toMatchObject({ code: 'ESTALE' })
    await waitUntil('the tree is told', () => setup.changed.includes('/replaced.bin'))
    expect((await readAll(reader.open(fresh.version))).equals(fresh.bytes)).toBe(true)
  })

  test('a document deleted while it is read is ESTALE', async () => {
    const { version } = await setup.store('/deleted.bin', 6 * MiB)
    const reading = memoryReader().open(version)
    await readBytes(reading, 0, 128 * KiB)
    await setup.files.delete('/deleted.bin')
    await expect(readBytes(reading, 5 * MiB, 128 * KiB)).rejects.toMatchObject({ code: 'ESTALE' })
  })

  test('a record without a URL is a clear EIO', async () => {
    const { version } = await setup.store('/no-url.bin', 10)
    setup.urls.forget(version.path)
    setup.service.faults.inject({ kind: 'omit-fields', fields: ['url'] })
    await expect(readAll(memoryReader().open(version))).rejects.toThrow(
      'EIO: /no-url.bin: the service gave no download URL for the document',
    )
  })

  test('a service out of reach is waited for once, then reads fail at once until it is back', async () => {
    const { version, bytes } = await setup.store('/down.bin', 10 * KiB)
    // A clock ten times as fast: fifteen seconds of patience pass in one and a half.
    const reader = setup.reader({ cacheSizeBytes: 0, world: fastWorld(10) })
    await setup.urls.get(version, never)
    const heal = setup.service.faults.inject({ kind: 'status', status: 503 }, { endpoint: 'download' })
    // In time ten times as fast an answer may be too late as well: then there is no status.
    await expect(readAll(reader.open(version))).rejects.toThrow()
    setup.service.clearCalls()
    await expect(readAll(reader.open(version))).rejects.toThrow()
    expect(rangesOf(setup.service)).toHaveLength(1)
    heal()
    expect((await readAll(reader.open(version))).equals(bytes)).toBe(true)
  })
})

describe('a document that moves is read on at its new place', () => {
  /** Its copy stands there, as after a rename, under the same bytes. */
  async function stored(): Promise<{ from: StoredDocument; to: StoredDocument }> {
    const [from, to] = [
      await setup.store('/old.txt', 9 * MiB, 'a'),
      await setup.store('/new.txt', 9 * MiB, 'a'),
    ]
    for (const { version, file } of [from, to]) setup.urls.remember(version.path, file, Date.now())
    return { from, to }
  }

  test('also where an answer from the old one is on its way, and ETags belong to places', async () => {
    const { from, to } = await stored()
    let downloads = 0
    const files: Files = {
      ...setup.files,
      async download(url, path, ...rest) {
        const download = await setup.files.download(url, path, ...rest)
        if (downloads++ === 0) reader.moved(from.version, to.version)
        return { ...download, etag: `"${path}"` }
      },
    }
    const reader = setup.reader({ cacheSizeBytes: 0, files })
    expect((await readAll(reader.open(from.version))).equals(to.bytes)).toBe(true)
    expect(downloads).toBeGreaterThan(1)
  })

  test('also where the old one is gone before its URL is known', async () => {
    const { from, to } = await stored()
    const files: Files = {
      ...setup.files,
      async get(path, options) {
        await setup.files.delete(path, { attempts: 1 })
        reader.moved(from.version, to.version)
        return setup.files.get(path, options)
      },
    }
    const urls = new PresignedUrls({ files, now: Date.now })
    urls.remember(to.version.path, to.file, Date.now())
    const reader = setup.reader({ cacheSizeBytes: 0, urls })
    expect((await readAll(reader.open(from.version))).equals(to.bytes)).toBe(true)
  })
})

describe('waiting', () => {
  test('an aborted read ends at once; what others wait for goes on', async () => {
    const { version, bytes } = await setup.store('/slow.bin', 512 * KiB)
    setup.service.faults.inject({ kind: 'latency', ms: 300 }, { endpoint: 'download' })
    const reader = memoryReader()
    const controller = new AbortController()
    const impatient = reader.open(version).read(0, 128 * KiB, { signal: controller.signal })
    const patient = readAll(reader.open(version))
    controller.abort(new Error('interrupted'))
    await expect(impatient).rejects.toThrow('interrupted')
    expect((await patient).equals(bytes)).toBe(true)
  })

  test('a download nobody waits for any more is ended', async () => {
    const { version } = await setup.store('/abandoned.bin', 8 * MiB)
    setup.service.faults.inject({ kind: 'slow-drip', bytesPerSecond: 100_000 }, { endpoint: 'download' })
    const reader = memoryReader()
    const reading = reader.open(version)
    setup.service.clearCalls()
    const controller = new AbortController()
    const read = reading.read(0, 4 * MiB, { signal: controller.signal })
    await waitUntil('the download to be under way', () => rangesOf(setup.service).length > 0)
    controller.abort(new Error('interrupted'))
    await expect(read).rejects.toThrow('interrupted')
    reading.close()
    setup.service.faults.clear()
    setup.service.clearCalls()
    await readBytes(reader.open(version), 2 * MiB, 1)
    expect(rangesOf(setup.service)).toHaveLength(1)
  })

  test('a reader far down a slow stream gets a request of its own', async () => {
    const { version, bytes } = await setup.store('/far.bin', 16 * MiB)
    const reader = memoryReader()
    const slow = reader.open(version)
    setup.service.clearCalls()
    setup.service.faults.inject(
      { kind: 'slow-drip', bytesPerSecond: 2 * MiB },
      { endpoint: 'download', times: 1 },
    )
    const wholeRun = Promise.resolve(slow.read(0, 12 * MiB, { signal: never })).catch(() => {})
    await waitUntil('the stream flows', () => rangesOf(setup.service).length > 0)
    setup.service.clearCalls()
    const read = await readBytes(reader.open(version), 11 * MiB, 100)
    expect(read.equals(bytes.subarray(11 * MiB, 11 * MiB + 100))).toBe(true)
    expect(rangesOf(setup.service)).toEqual([[11 * MiB, 128 * KiB]])
    slow.close()
    await reader.close()
    await wholeRun
  })
})

describe('a bad network', () => {
  let proxy: FlakyProxy
  beforeAll(async () => {
    proxy = await startFlakyProxy({ targetPort: setup.service.port })
  })
  afterAll(() => proxy.close())

  /** The same URL, by way of the proxy. */
  function remember({ version, file }: StoredDocument): void {
    const url = new URL(file.url ?? '')
    url.port = String(proxy.port)
    setup.urls.remember(version.path, { ...file, url: url.href }, Date.now() + 1)
  }

  test('connections that break in the middle cost only what was not here yet', async () => {
    const document = await setup.store('/breaking.bin', 3 * MiB)
    remember(document)
    proxy.cutAfterBytes = 700_000
    expect((await readAll(memoryReader().open(document.version))).equals(document.bytes)).toBe(true)
    proxy.cutAfterBytes = undefined
  })

  test('a connection that goes silent is given up, and the read answered by another one', async () => {
    const document = await setup.store('/silent.bin', 200 * KiB)
    remember(document)
    proxy.isBlackhole = true
    // Seven seconds of silence pass in less than two, and more than two are left for the answer.
    const read = readAll(setup.reader({ cacheSizeBytes: 0, world: fastWorld(4) }).open(document.version))
    const before = proxy.connections
    await waitUntil('a connection was given up', () => proxy.connections > before)
    proxy.isBlackhole = false
    expect((await read).equals(document.bytes)).toBe(true)
  })

  test('a network that stays silent is a deadline', async () => {
    const document = await setup.store('/lost.bin', 200 * KiB)
    remember(document)
    proxy.isBlackhole = true
    const read = readAll(setup.reader({ cacheSizeBytes: 0, world: fastWorld(14) }).open(document.version))
    await expect(read).rejects.toMatchObject({ name: 'NetworkError', kind: 'deadline' })
    proxy.isBlackhole = false
  })
})

describe('sizes', () => {
  test('an unknown size is learned from a range of one byte', async () => {
    const { version } = await setup.store('/unsized.bin', 123_456)
    setup.service.clearCalls()
    expect(await memoryReader().learnSize({ ...version, size: undefined }, never)).toBe(123_456)
    expect(rangesOf(setup.service)).toEqual([[0, 1]])
  })

  test('an unknown size of an empty document is learned, too', async () => {
    const { version } = await setup.store('/unsized-empty.bin', 0)
    expect(await memoryReader().learnSize({ ...version, size: undefined }, never)).toBe(0)
  })

  test('an unknown size is learned from a server that ignores ranges', async () => {
    const { version } = await setup.store('/unsized-whole.bin', 200_000)
    setup.service.faults.inject({ kind: 'ignore-range' }, { endpoint: 'download' })
    expect(await memoryReader().learnSize({ ...version, size: undefined }, never)).toBe(200_000)
  })

  test('a document of unknown size can be read', async () => {
    const { version, bytes } = await setup.store('/unsized-read.bin', 300_000)
    const reading = memoryReader().open({ ...version, size: undefined })
    expect((await readAll(reading)).equals(bytes)).toBe(true)
  })
})

describe('copying out', () => {
  test.each([
    ['all of it', undefined, 3 * MiB + 17],
    ['its beginning', 1_500_000, 1_500_000],
    ['no more than there is', 9 * MiB, 3 * MiB + 17],
  ])('a document is copied into an open file: %s', async (_title, length, expected) => {
    const { version, bytes } = await setup.store('/copied.bin', 3 * MiB + 17)
    const target = `${setup.folder}/copy`
    const fd = openSync(target, 'w')
    const options = length === undefined ? { signal: never } : { length, signal: never }
    expect(await memoryReader().copyTo(version, fd, options)).toBe(expected)
    closeSync(fd)
    expect(readFileSync(target).equals(bytes.subarray(0, expected))).toBe(true)
  })
})
