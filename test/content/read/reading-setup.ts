// Parts that the tests of the reading side share: the service in this process, a client, documents with known bytes.

import { realWorld } from '../../../src/world/world.ts'
import { setMaxListeners } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { createClient } from '../../../src/api/client.ts'
import { mimetypes } from '../../../src/api/mimetypes.ts'
import type { Files, RemoteFile } from '../../../src/api/types.ts'
import { createReader } from '../../../src/content/read/block-reader.ts'
import type { ReaderOptions } from '../../../src/content/read/block-reader.ts'
import { fingerprintOf } from '../../../src/content/fingerprint.ts'
import type { Version } from '../../../src/content/fingerprint.ts'
import { PresignedUrls } from '../../../src/content/read/presigned-urls.ts'
import type { Reader, Reading } from '../../../src/content/read/reader.ts'
import { patternedBytes } from '../../support/bytes.ts'
import { type FaultyService, startFaultyService } from '../../support/faults/faulty-service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

export interface ReadingSetup {
  readonly service: FaultyService
  readonly files: Files
  /** A folder that is gone afterwards. */
  readonly folder: string
  /** Warnings of all readers. */
  readonly warnings: string[]
  /** Records found to be another version's. */
  readonly changed: string[]
  urls: PresignedUrls
  /** A reader on `cacheDir` (default: one for all); closed at the end. */
  reader(options?: Partial<ReaderOptions>): Reader
  /** Stores a document of `size` bytes, different for every `seed`. Replaces what is there. */
  store(path: string, size: number, seed?: string): Promise<StoredDocument>
  close(): Promise<void>
}

export interface StoredDocument {
  readonly version: Version
  readonly file: RemoteFile
  readonly bytes: Buffer
}

/** The signal of a caller that is never interrupted; shared by many reads at once. */
export const never: AbortSignal = new AbortController().signal
setMaxListeners(0, never)

export async function setUpReading(): Promise<ReadingSetup> {
  const temporary = await makeTemporaryFolder()
  const service = await startFaultyService({
    dataDir: `${temporary.path}/service`,
    projects: ['acme'],
  })
  const client = createClient({ baseUrl: service.baseUrl, apiKey: await service.createKey('acme') })
  const files = client.files('acme')
  const readers: Reader[] = []
  const warnings: string[] = []
  const changed: string[] = []
  const log = {
    debug() {},
    info() {},
    warn: (_fields: object, text: string) => void warnings.push(text),
    error() {},
  }
  const world = realWorld()
  const setup: ReadingSetup = {
    service,
    files,
    folder: temporary.path,
    warnings,
    changed,
    urls: new PresignedUrls({
      files,
      now: world.clock.steady,
      onChanged: (path) => changed.push(path),
    }),
    reader(options) {
      const reader = createReader({
        files,
        urls: setup.urls,
        world,
        cacheDir: `${temporary.path}/cache`,
        log,
        ...options,
      })
      readers.push(reader)
      return reader
    },
    async store(path, size, seed = path) {
      const bytes = patternedBytes(size, seed)
      await files.delete(path, { attempts: 1 }).catch(() => {})
      const file = await files.upload(path, {
        mimetype: mimetypes[0],
        filename: 'document',
        content: {
          kind: 'bytes',
          size,
          async *open() {
            yield bytes
          },
        },
      })
      return { version: { path, fingerprint: fingerprintOf(file), size: file.size }, file, bytes }
    },
    async close() {
      await Promise.all(readers.map((reader) => reader.close()))
      await client.close()
      await service.close()
      await temporary.remove()
    },
  }
  return setup
}

/** All readers are lent the same: what is answered later must not lie here. */
const room = Buffer.alloc(1024 * 1024)

/** For a test file: a set-up of its own, no faults left from the test before, and a cache folder for each. */
export function useReading(give: (setup: ReadingSetup, cacheDir: string) => void): void {
  let setup: ReadingSetup
  let count = 0
  beforeAll(async () => {
    setup = await setUpReading()
  })
  beforeEach(() => give(setup, `${setup.folder}/cache-${count++}`))
  afterEach(() => setup.service.faults.clear())
  afterAll(() => setup.close())
}

/** One read, joined. */
export async function readBytes(
  reading: Reading,
  offset: number,
  length: number,
  signal: AbortSignal = never,
): Promise<Buffer> {
  const answer = reading.read(offset, length, { signal, readBuffer: room })
  return Buffer.concat(answer instanceof Promise ? await answer : answer)
}

/** A whole document by the kernel's own READ size. */
export async function readAll(reading: Reading, stepBytes = 128 * 1024): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let offset = 0; ;) {
    const part = await readBytes(reading, offset, stepBytes)
    if (part.length === 0) return Buffer.concat(parts)
    parts.push(part)
    offset += part.length
  }
}

/** The ranges of all downloads so far, as `[offset, length]`. */
export function rangesOf(service: FaultyService): (readonly [number, number])[] {
  return service.calls.flatMap(({ endpoint, range }) => {
    const match = endpoint === 'download' ? /bytes=(\d+)-(\d+)/.exec(range ?? '') : null
    return match === null ? [] : [[Number(match[1]), Number(match[2]) + 1 - Number(match[1])] as const]
  })
}
