import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { ContentStore } from '../../src/service/blobs/content-store.ts'
import { openDiskBackend } from '../../src/service/blobs/disk.ts'
import { defaultLimits } from '../../src/service/limits.ts'
import type { Store } from '../../src/service/store/database.ts'
import { openEmbedded } from '../../src/service/store/open-embedded.ts'
import { JsonSpooler } from '../../src/service/uploads/json-spooler.ts'
import { Staging } from '../../src/service/uploads/staging.ts'

let folder: string
let store: Store
let blobs: ContentStore

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-spooler-'))
  const opened = await openEmbedded(folder)
  store = opened.store
  blobs = new ContentStore(await openDiskBackend(join(folder, 'blobs')), store, opened.commits, silentLog)
})
afterAll(async () => {
  await store.destroy()
  await rm(folder, { recursive: true })
})

/** The body's value with spooled contents put back as base64. */
async function spool(
  body: Buffer,
  chunkBytes: readonly number[],
): Promise<{ value: unknown; spooled: number }> {
  const staging = new Staging(blobs, defaultLimits)
  try {
    const spooler = new JsonSpooler(staging, defaultLimits)
    for (let at = 0, turn = 0; at < body.byteLength; turn++) {
      const length = chunkBytes[turn % chunkBytes.length]!
      await spooler.write(body.subarray(at, at + length))
      at += length
    }
    let spooled = 0
    const restored = async (value: unknown): Promise<unknown> => {
      if (Array.isArray(value)) return Promise.all(value.map(restored))
      if (typeof value === 'object' && value !== null) {
        const entries = await Promise.all(
          Object.entries(value).map(async ([key, inner]) => [key, await restored(inner)]),
        )
        return Object.fromEntries(entries as [string, unknown][])
      }
      const blob = typeof value === 'string' ? staging.blobOf(value) : undefined
      if (blob === undefined) return value
      spooled++
      const chunks: Buffer[] = []
      for await (const chunk of blob.stream()) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString('base64')
    }
    const value = await restored(spooler.finish())
    return { value, spooled }
  } finally {
    await staging.discard()
  }
}

const chunkings = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 })
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.stringMatching(/^["\\/u{}:, n]*$/),
  fc.constantFrom('file', 'content', '"file":', '\\', '\\\\"', '\ud83d\ude00', '\u0000\n\t'),
)

test('reads any JSON as JSON.parse does, however it is cut into chunks', async () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(text, fc.constantFrom('file', 'content', 'text')), tie('value'), { maxKeys: 4 }),
    ),
  })).value
  await fc.assert(
    fc.asyncProperty(value, chunkings, fc.constantFrom(0, 2), async (given, chunks, indent) => {
      const json = JSON.stringify(given, undefined, indent)
      expect((await spool(Buffer.from(json), chunks)).value).toEqual(JSON.parse(json))
    }),
    { numRuns: 300 },
  )
})

test('spools long base64 under its keys, in any place and any order, however it is cut into chunks', async () => {
  const long = fc
    .uint8Array({ minLength: 60_000, maxLength: 90_000 })
    .map((bytes) => Buffer.from(bytes).toString('base64'))
  await fc.assert(
    fc.asyncProperty(
      long,
      long,
      text,
      fc.boolean(),
      chunkings,
      async (first, second, other, isEscaped, chunks) => {
        const given = {
          other,
          file: [{ file: { content: first, mimetype: other } }, { text: other }],
          content: second,
          last: other,
        }
        const plain = JSON.stringify(given)
        const json = isEscaped ? plain.replaceAll('/', '\\/') : plain
        const { value, spooled } = await spool(
          Buffer.from(json),
          chunks.map((length) => length * 100 + 1),
        )
        expect(value).toEqual(given)
        expect(spooled).toBe(2)
      },
    ),
    { numRuns: 20 },
  )
})

test('escapes split between chunks at every place are read whole', async () => {
  const content = Buffer.alloc(66_000, 255).toString('base64')
  const json = Buffer.from(`{"a":"\\u00e9\\\\\\"\\n","file":"${content}\\/\\u002f\\u002F\\/"}`)
  const expected = JSON.parse(json.toString()) as unknown
  for (let cut = 1; cut < 40; cut++) {
    expect((await spool(json, [cut, json.byteLength])).value).toEqual(expected)
    expect((await spool(json, [json.byteLength - cut, json.byteLength])).value).toEqual(expected)
  }
})

test('a key or a text that looks like a placeholder stays what it is', async () => {
  const given = { file: 'staged:00000000-0000-4000-8000-000000000000:0', 'staged:0': 1 }
  expect(await spool(Buffer.from(JSON.stringify(given)), [10])).toEqual({ value: given, spooled: 0 })
})
