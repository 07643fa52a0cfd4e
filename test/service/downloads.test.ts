import { createHash } from 'node:crypto'
import { truncate } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseRange } from '../../src/service/downloads/range.ts'
import { type Signer, createSigner } from '../../src/service/downloads/signer.ts'
import { Turns } from '../../src/service/downloads/turns.ts'
import { isOnPostgres } from '../support/store.ts'
import { type TestService, errorOf, startTestService } from './support.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

async function urlOf(path: string, of: TestService = service): Promise<string> {
  const { url } = (await (await of.get(path)).json()) as { url: string }
  return url
}

describe.each([
  ['small', 1_000],
  ['large', 3_000_000],
])('a %s document', (name, size) => {
  const path = `/ranges/${name}.bin.txt`
  const content = Buffer.alloc(size, 'abcdefghij')
  let url = ''

  beforeAll(async () => {
    await service.put(path, content)
    url = await urlOf(path)
  })

  test('downloads whole, with its type, length and a strong ETag of its content', async () => {
    const answer = await fetch(url)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': String(size),
      'accept-ranges': 'bytes',
      etag: `"${createHash('sha256').update(content).digest('hex')}"`,
    })
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true)
  })

  test.each([
    ['bytes=0-9', 0, 9],
    ['bytes=3-3', 3, 3],
    ['bytes=990-', 990, size - 1],
    ['bytes=-5', size - 5, size - 1],
    [`bytes=-${size * 2}`, 0, size - 1],
    [`bytes=0-${size * 2}`, 0, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    ['bytes = 1 - 2', 1, 2],
  ])('answers Range %s with 206 and exactly these bytes', async (range, start, end) => {
    const answer = await fetch(url, { headers: { range } })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${end}/${size}`)
    expect(answer.headers.get('content-length')).toBe(String(end - start + 1))
    expect(Buffer.from(await answer.arrayBuffer()).equals(content.subarray(start, end + 1))).toBe(true)
  })

  test.each([[`bytes=${size}-`], [`bytes=${size + 5}-${size + 9}`], ['bytes=-0']])(
    'answers Range %s with 416 and the size',
    async (range) => {
      const answer = await fetch(url, { headers: { range } })
      expect(answer.headers.get('content-range')).toBe(`bytes */${size}`)
      expect(await errorOf(answer)).toMatchObject({ status: 416 })
    },
  )

  test.each([['bytes=0-1,5-6'], ['bytes=9-3'], ['bytes=-'], ['bytes=x-y'], ['lines=1-2']])(
    'answers Range %s with 200 and everything',
    async (range) => {
      const answer = await fetch(url, { headers: { range } })
      expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, size])
    },
  )

  test('answers conditions by its ETag', async () => {
    const etag = (await fetch(url, { method: 'HEAD' })).headers.get('etag')!
    const unchanged = await fetch(url, { headers: { 'if-none-match': `"other", ${etag}` } })
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ''])
    for (const known of [`W/${etag}`, `"other", W/${etag}`, '*'])
      expect((await fetch(url, { headers: { 'if-none-match': known } })).status).toBe(304)
    for (const wanted of [etag, `"other", ${etag}`, '*'])
      expect((await fetch(url, { headers: { 'if-match': wanted } })).status).toBe(200)
    for (const wanted of ['"other"', `W/${etag}`])
      expect(await errorOf(await fetch(url, { headers: { 'if-match': wanted } }))).toMatchObject({
        status: 412,
      })
    const same = await fetch(url, { headers: { range: 'bytes=0-4', 'if-range': etag } })
    expect([same.status, await same.text()]).toEqual([206, 'abcde'])
    const changed = await fetch(url, { headers: { range: 'bytes=0-4', 'if-range': '"other"' } })
    expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, size])
  })

  test('answers HEAD without content, and takes no Range with it', async () => {
    for (const range of [undefined, 'bytes=0-4', `bytes=${size}-`]) {
      const answer = await fetch(url, { method: 'HEAD', headers: range === undefined ? {} : { range } })
      expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([
        200,
        String(size),
        '',
      ])
    }
  })
})

// Nodes find damage in a shared folder in the same way.
test.skipIf(isOnPostgres)(
  'a document whose file is shorter than it was is no answer, and no beginning of one',
  async () => {
    const content = Buffer.alloc(3_000_000, 'never the same')
    await service.put('/damaged.txt', content)
    const url = await urlOf('/damaged.txt')
    const sha256 = createHash('sha256').update(content).digest('hex')
    await truncate(join(service.dataDir, 'blobs', sha256.slice(0, 2), sha256), 1_000_000)
    for (const range of ['bytes=0-', 'bytes=0-2000000', 'bytes=999990-1000000'])
      expect([range, await errorOf(await fetch(url, { headers: { range } }))]).toEqual([
        range,
        { status: 503, message: 'the content of /damaged.txt is damaged: store that document again' },
      ])
    const part = await fetch(url, { headers: { range: 'bytes=0-999999' } })
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 1_000_000])
  },
)

describe('a presigned url', () => {
  test('carries no key and needs none', async () => {
    await service.put('/open.txt', 'open')
    const url = await urlOf('/open.txt')
    expect(url).not.toContain(service.key)
    expect(await (await fetch(url)).text()).toBe('open')
  })

  test('leads to the address the request came to', async () => {
    await service.put('/origin.txt', 'x')
    const base = service.service.baseUrl.replace('127.0.0.1', 'localhost')
    const answer = await fetch(`${base}/projects/acme/files?path=/origin.txt`, {
      headers: { 'x-api-key': service.key },
    })
    expect(((await answer.json()) as { url: string }).url.startsWith(`${base}/download/`)).toBe(true)
  })

  test('is refused once any part of it is changed', async () => {
    await service.put('/signed.txt', 'signed')
    const url = new URL(await urlOf('/signed.txt'))
    await service.put('/other.txt', 'other')
    const other = new URL(await urlOf('/other.txt'))
    const expires = Number(url.searchParams.get('expires'))
    const signature = url.searchParams.get('signature')!
    const changed = [
      (copy: URL) => copy.searchParams.set('expires', String(expires + 1)),
      (copy: URL) =>
        copy.searchParams.set('signature', signature.replace(/^./, signature.startsWith('A') ? 'B' : 'A')),
      (copy: URL) => copy.searchParams.set('signature', signature.slice(1)),
      (copy: URL) => copy.searchParams.set('signature', ''),
      (copy: URL) => (copy.pathname = other.pathname),
      (copy: URL) => (copy.pathname += '0'),
    ]
    for (const change of changed) {
      const copy = new URL(url)
      change(copy)
      expect(await errorOf(await fetch(copy))).toMatchObject({ status: 403 })
    }
    for (const missing of ['expires', 'signature']) {
      const copy = new URL(url)
      copy.searchParams.delete(missing)
      expect(await errorOf(await fetch(copy))).toMatchObject({ status: 400 })
    }
  })

  test('expires', async () => {
    const brief = await startTestService({ urlLifetimeMs: 0 })
    await brief.put('/brief.txt', 'x')
    expect(await errorOf(await fetch(await urlOf('/brief.txt', brief)))).toMatchObject({ status: 403 })
    await brief.close()
  })

  test('lives 15 minutes unless told otherwise', async () => {
    await service.put('/lifetime.txt', 'x')
    const before = Date.now()
    const expires = Number(new URL(await urlOf('/lifetime.txt')).searchParams.get('expires'))
    // Where nodes share a clock, this process knows it to some milliseconds.
    expect(expires).toBeGreaterThanOrEqual(before - 1_000 + 15 * 60_000)
    expect(expires).toBeLessThanOrEqual(Date.now() + 1_000 + 15 * 60_000)
  })

  test('survives a restart, for the secret does', async () => {
    const first = await startTestService()
    await first.put('/kept.txt', 'kept')
    const path = new URL(await urlOf('/kept.txt', first))
    await first.service.close()
    const second = await startTestService({ dataDir: first.dataDir })
    expect(await (await fetch(new URL(path.pathname + path.search, second.service.baseUrl))).text()).toBe(
      'kept',
    )
    await second.close()
    await first.close()
  })

  test('of a replaced or deleted document answers 404', async () => {
    await service.put('/replaced.txt', 'old')
    const url = await urlOf('/replaced.txt')
    await service.delete('/replaced.txt')
    expect(await errorOf(await fetch(url))).toMatchObject({ status: 404 })
    await service.put('/replaced.txt', 'new')
    expect(await errorOf(await fetch(url))).toMatchObject({ status: 404 })
  })
})

describe('a signer', () => {
  const signerOf = (current: Buffer, known = [current]): Signer => createSigner({ current, known }, 1_000)
  const signer = signerOf(Buffer.alloc(32, 1))
  const nodeId = '0b6c5f5e-1111-4222-8333-444455556666'
  const link = (url: string): { nodeId: string; expires: string; signature: string } => {
    const { pathname, searchParams } = new URL(url)
    return {
      nodeId: pathname.split('/').at(-1)!,
      expires: searchParams.get('expires')!,
      signature: searchParams.get('signature')!,
    }
  }

  test('accepts its links until they expire', () => {
    const signed = link(signer.sign('http://host', nodeId, 5_000))
    expect([5_000, 5_999, 6_000].map((now) => signer.check(signed, now))).toEqual([
      'valid',
      'valid',
      'expired',
    ])
  })

  test('accepts links of the secret before this one, while that is known', () => {
    const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 3)]
    const rotated = signerOf(current, [current, old])
    const signed = link(signer.sign('http://host', nodeId, 5_000))
    expect(rotated.check(signed, 5_000)).toBe('valid')
    const anew = link(rotated.sign('http://host', nodeId, 5_000))
    expect([rotated.check(anew, 5_000), signer.check(anew, 5_000)]).toEqual(['valid', 'forged'])
    expect(signerOf(current).check(signed, 5_000)).toBe('forged')
  })

  test('accepts no link signed with another secret, nor ids that are none', () => {
    const signed = link(signerOf(Buffer.alloc(32, 2)).sign('http://host', nodeId, 5_000))
    expect(signer.check(signed, 5_000)).toBe('forged')
    const own = link(signer.sign('http://host', nodeId, 5_000))
    expect(signer.check({ ...own, nodeId: `${nodeId}x` }, 5_000)).toBe('forged')
    expect(signer.check({ ...own, nodeId: '' }, 5_000)).toBe('forged')
  })
})

test('pieces of many downloads leave the event loop to others between them, in the order in which they came', async () => {
  const turns = new Turns(createServer())
  const seen: (number | 'others')[] = []
  const all = Promise.all(
    Array.from({ length: 5 }, (_, number) => {
      return new Promise<void>((resolve) =>
        turns.run(() => {
          seen.push(number)
          // Longer than all of a turn.
          for (const untilMs = performance.now() + 2; performance.now() < untilMs;);
          resolve()
        }),
      )
    }),
  )
  const over = new AbortController()
  const others = (): void => {
    seen.push('others')
    if (!over.signal.aborted) setImmediate(others)
  }
  others()
  await all
  over.abort()
  expect(seen.filter((one) => one !== 'others')).toEqual([0, 1, 2, 3, 4])
  for (let number = 1; number < 5; number++) expect(seen[seen.indexOf(number) - 1]).toBe('others')
})

test.each([
  { title: 'all of them in time', stepMs: 0, least: 60, most: 60 },
  { title: 'and not after all where that takes long', stepMs: 10, least: 5, most: 59 },
])(
  'downloads begin after the connections that wait to be accepted: $title',
  async ({ stepMs, least, most }) => {
    const server = createServer()
    let nowMs = 0
    const turns = new Turns(server, () => nowMs)
    const seen: ('arrival' | 'download')[] = []
    server.on('connection', () => {
      seen.push('arrival')
      nowMs += stepMs
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1'))
    // Each connection is there by then.
    const downloads = Array.from({ length: 5 }, () => turns.begin().then(() => seen.push('download')))
    await Promise.all(downloads)
    const before = seen.slice(0, seen.lastIndexOf('download')).filter((one) => one === 'arrival').length
    expect(before).toBeGreaterThanOrEqual(least)
    expect(before).toBeLessThanOrEqual(most)
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  },
)

test('an empty document has no range to satisfy', () => {
  expect([parseRange('bytes=0-0', 0), parseRange('bytes=-5', 0), parseRange(undefined, 0)]).toEqual([
    'unsatisfiable',
    'unsatisfiable',
    undefined,
  ])
})
