// Contents above 32 KiB in a bucket of an S3 that is nobody's imitation: Ceph's gateway. `scripts/test --all` starts it.

import { execFileSync } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { checkService } from '../../../src/daemon/doctor-service.ts'
import { openS3Backend } from '../../../src/service/blobs/s3/s3-backend.ts'
import type { StagedBlob } from '../../../src/service/blobs/backend.ts'
import type { Log } from '../../../src/log.ts'
import { S3Client } from '../../../src/service/blobs/s3/client.ts'
import { checkStore } from '../../../src/service/store/postgres/check.ts'
import { StartError } from '../../../src/service/start-error.ts'
import { startService } from '../../../src/service/index.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { clientOf, collect } from '../../api/client-support.ts'
import { startRawServer } from '../../support/raw-server.ts'
import { documentOf, files } from '../support.ts'
import { type Nodes, startNodes } from './nodes.ts'

/** One of its own, for its gateway is stopped: beside the one that other tests use at the same time. */
const folder =
  process.env['DOCMOUNT_TEST_S3'] === undefined ? undefined : `${process.env['DOCMOUNT_TEST_S3']}-stopped`
const engines = new URL('../../../scripts/engines', import.meta.url).pathname
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const MiB = 1024 * 1024

describe.skipIf(folder === undefined)('contents in a bucket', () => {
  let nodes: Nodes
  let blobs: { url: string }
  let client: S3Client

  beforeEach(async () => {
    const { url, credentials } = JSON.parse(
      execFileSync(engines, ['start-s3', folder!], { encoding: 'utf8' }),
    ) as { url: string; credentials: string }
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', credentials)
    blobs = { url: url.replace('?', `/${randomUUID()}?`) }
    client = await S3Client.open(blobs, Date.now)
    nodes = await startNodes({ blobs })
  })
  afterEach(() => nodes.close())
  afterAll(() => {
    vi.unstubAllEnvs()
    execFileSync(engines, ['stop-s3', folder!])
  })

  const list = async (query: Record<string, string>, element: string): Promise<string[]> => {
    const answer = await client.ask({ method: 'GET', query: { ...query, prefix: client.prefix } })
    const text = answer.bytes.toString()
    return [...text.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))].map(([, inside]) => inside!)
  }
  const objects = (): Promise<string[]> => list({ 'list-type': '2' }, 'Contents')
  const begun = (): Promise<string[]> => list({ uploads: '' }, 'Upload')
  const linkOf = async (path: string): Promise<string> =>
    ((await (await nodes.two.get(path)).json()) as { url: string }).url

  test('come back as they were, whole and in ranges, of any size', async () => {
    for (const size of [0, 1, 32 * 1024, 32 * 1024 + 1, MiB, 8 * MiB, 8 * MiB + 1, 17 * MiB + 3]) {
      const content = randomBytes(size)
      const put = await nodes.one.put(`/${size}.bin`, content)
      expect([size, put.status, await put.text()]).toEqual([size, 201, expect.anything()])
      const link = await linkOf(`/${size}.bin`)
      const got = Buffer.from(await (await fetch(link)).arrayBuffer())
      expect([size, hashOf(got)]).toEqual([size, hashOf(content)])
      if (size < 100) continue
      for (const [start, end] of [
        [0, 0],
        [7, 99],
        [Math.floor(size / 2), size - 1],
      ] as const) {
        const part = await fetch(link, { headers: { range: `bytes=${start}-${end}` } })
        expect([part.status, part.headers.get('content-range')]).toEqual([
          206,
          `bytes ${start}-${end}/${size}`,
        ])
        expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(start, end + 1))).toBe(true)
      }
    }
    expect(await objects()).toHaveLength(5)
    expect(await begun()).toEqual([])
  })

  test('that the bucket has changed, cut or lost are named by docmount check, and never downloaded as a whole', async () => {
    const keyOf = (object: string): string => />([0-9a-f]{64})</.exec(object.replace(client.prefix, ''))![1]!
    const damage = async (name: string, work: (key: string) => Promise<unknown>): Promise<void> => {
      const before = await objects()
      await nodes.one.put(`/${name}.bin`, randomBytes(3 * MiB))
      const keys = (all: readonly string[]): string[] => all.map(keyOf)
      await work(keys(await objects()).find((key) => !keys(before).includes(key))!)
    }
    await nodes.one.put('/whole.bin', randomBytes(100_000))
    await damage('changed', (key) => client.ask({ method: 'PUT', key, body: randomBytes(3 * MiB) }))
    await damage('cut', (key) => client.ask({ method: 'PUT', key, body: randomBytes(MiB) }))
    await damage('gone', (key) => client.ask({ method: 'DELETE', key }))
    expect((await checkStore({ database: nodes.database, blobs })).findings.toSorted()).toEqual([
      'content that is damaged: acme/changed.bin',
      'content that is damaged: acme/cut.bin',
      'content that is missing: acme/gone.bin',
    ])
    for (const name of ['changed', 'cut'])
      await expect(
        fetch(await linkOf(`/${name}.bin`)).then((answer) => answer.arrayBuffer()),
      ).rejects.toThrow()
    const beyond = await fetch(await linkOf('/cut.bin'), { headers: { range: `bytes=${2 * MiB}-` } })
    expect([beyond.status, (await fetch(await linkOf('/gone.bin'))).status]).toEqual([503, 503])
    expect((await fetch(await linkOf('/whole.bin'))).status).toBe(200)
  })

  test('are copied by a link of our own without another object', async () => {
    await nodes.one.put('/from', randomBytes(100_000))
    const copied = await nodes.two.call('PUT', files('/to'), {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...documentOf(''), file_type: 'uri', file: await linkOf('/from') }),
    })
    expect(copied.status).toBe(201)
    expect(await objects()).toHaveLength(1)
  })

  test('of an upload that is cut off or refused leave nothing', async () => {
    const { hostname, port } = new URL(nodes.one.service.baseUrl)
    const head = JSON.stringify(documentOf('')).replace('"file":""}', '"file":"')
    const upload = request({
      hostname,
      port,
      path: `/api${files('/cut.bin')}`,
      method: 'PUT',
      headers: { 'x-api-key': nodes.one.key, 'content-type': 'application/json', 'content-length': 40 * MiB },
    })
    upload.on('error', () => undefined)
    upload.write(head)
    upload.write(Buffer.alloc(24 * MiB, 'QUJD'))
    await expect.poll(begun).toHaveLength(1)
    upload.destroy()
    await expect.poll(begun).toEqual([])

    await nodes.one.put('/taken', 'small')
    expect((await nodes.two.put('/taken', randomBytes(100_000))).status).toBe(409)
    await expect.poll(objects).toEqual([])
  })

  test('go when nothing has referred to them for a while, and what a crash left goes too', async () => {
    await nodes.close()
    nodes = await startNodes({ blobs, graceMs: 8_000 })
    for (const path of ['/kept', '/gone'])
      await expect.poll(async () => (await nodes.one.put(path, randomBytes(100_000))).status).toBe(201)
    await client.ask({ method: 'PUT', key: randomBytes(32).toString('hex'), body: 'left by a crash' })
    await client.ask({ method: 'PUT', key: 'of-somebody-else', body: 'kept' })
    await client.ask({ method: 'POST', key: randomBytes(32).toString('hex'), query: { uploads: '' } })
    await nodes.two.delete('/gone')
    await expect.poll(objects).toHaveLength(2)
    await expect.poll(begun).toEqual([])
    expect((await fetch(await linkOf('/kept'))).status).toBe(200)
  })

  test('while the gateway is killed in the middle: nothing acknowledged is lost, and it goes on by itself', async () => {
    // An upload that cannot be recorded in time is refused (503), and its bytes are swept.
    await nodes.close()
    nodes = await startNodes({ blobs, graceMs: 3_000 })
    const kept = new Map<string, string>()
    const failures = new Set<string>()
    const over = new AbortController()
    let answered = 0
    const clients = Array.from({ length: 6 }, async (_, number) => {
      for (let index = 0; !over.signal.aborted; index++) {
        const path = `/${number}/${index}`
        const content = randomBytes(index % 5 === 4 ? 9 * MiB : 50_000)
        const put = await (index % 2 === 0 ? nodes.one : nodes.two).put(path, content)
        const said = await put.text()
        answered++
        if (put.status === 201) kept.set(path, hashOf(content))
        else failures.add(put.status === 503 ? '503' : `${put.status} ${said}`)
      }
    })
    for (let round = 0; round < 2; round++) {
      const until = answered + 15
      await expect.poll(() => answered).toBeGreaterThan(until)
      execFileSync(engines, ['stop-s3', folder!, 'gateway'])
      execFileSync(engines, ['start-s3', folder!])
    }
    const before = kept.size
    await expect.poll(() => kept.size).toBeGreaterThan(before + 6)
    over.abort()
    await Promise.all(clients)
    expect([...failures].filter((status) => status !== '503')).toEqual([])
    for (const [path, hash] of kept) {
      const answer = await fetch(await linkOf(path))
      const got = Buffer.from(await answer.arrayBuffer())
      expect([path, answer.status, hashOf(got)]).toEqual([path, 200, hash])
    }
    expect((await checkStore({ database: nodes.database, blobs })).findings).toEqual([])
  }, 300_000)

  test('that its sender has left is never adopted, whatever came first', async () => {
    const backend = await openS3Backend(blobs, Date.now)
    const stageOne = async (): Promise<StagedBlob> => {
      const writer = await backend.stage()
      await writer.write(randomBytes(100))
      return writer.finish()
    }
    const left = await stageOne()
    await left.discard()
    await expect(backend.publish(left)).rejects.toThrow('given up')
    const kept = await stageOne()
    await backend.publish(kept)
    await kept.discard()
    expect(await objects()).toHaveLength(1)
  })

  describe('that are downloaded from the bucket itself', () => {
    beforeEach(async () => {
      await nodes.close()
      nodes = await startNodes({ blobs: { ...blobs, redirectsDownloads: true } })
    })
    const content = randomBytes(100_000)
    const sentOn = async (link: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(link, { headers, redirect: 'manual' })

    test('a link sends on to a URL that is good for a minute, in ranges too', async () => {
      await nodes.one.put('/a name, ä.pdf', content, 'application/pdf')
      const link = await linkOf('/a name, ä.pdf')
      const answer = await sentOn(link)
      const place = new URL(answer.headers.get('location')!)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([307, 'no-store'])
      expect(answer.headers.get('etag')).toBe(`"${hashOf(content)}"`)
      expect(place.searchParams.get('X-Amz-Expires')).toBe('60')
      const got = await fetch(link)
      expect(Object.fromEntries(got.headers)).toMatchObject({
        'content-type': 'application/pdf',
        'content-disposition': expect.stringContaining("filename*=UTF-8''a%20name%2C%20%C3%A4.pdf"),
      })
      expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true)
      const part = await fetch(link, { headers: { range: 'bytes=10-19' } })
      expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 10-19/100000'])
      expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(10, 20))).toBe(true)
    })

    test('small ones, tags that are asked about and what is no range are answered by the node', async () => {
      await nodes.one.put('/small', 'in the database')
      await nodes.one.put('/large', content)
      const [small, link] = [await linkOf('/small'), await linkOf('/large')]
      const etag = `"${hashOf(content)}"`
      expect((await sentOn(small)).status).toBe(200)
      expect((await sentOn(link, { 'if-none-match': etag })).status).toBe(304)
      expect((await sentOn(link, { range: 'bytes=0-9', 'if-range': etag })).status).toBe(206)
      expect((await sentOn(link, { 'if-match': etag })).status).toBe(200)
      expect((await sentOn(link, { 'if-match': '"another"' })).status).toBe(412)
      expect((await sentOn(link, { range: 'bytes=100000-' })).status).toBe(416)
      expect((await fetch(link, { method: 'HEAD', redirect: 'manual' })).status).toBe(200)
      // Whose tag is the bucket's is answered by the bucket.
      const whole = await fetch(link)
      await whole.arrayBuffer()
      const rest = await fetch(link, {
        headers: { range: 'bytes=0-9', 'if-range': whole.headers.get('etag')! },
      })
      expect([rest.status, (await rest.arrayBuffer()).byteLength]).toEqual([206, 10])
    })

    test('a URL whose minute has passed is refused by the bucket, and the client asks for another', async () => {
      await nodes.one.put('/large', content)
      const { key } = (await nodes.ask<{ key: string }>('select key from blobs'))[0]!
      const as = { mimetype: 'text/plain', disposition: 'inline' }
      const old = await client.presign(key, as, Date.now() - 3_600_000)
      expect((await fetch(old)).status).toBe(403)
      expect((await fetch(await client.presign(key, as, Date.now()))).status).toBe(200)
      let turns = 0
      await using door = await startRawServer((request, response) => {
        turns++
        const link = new URL(request.url!, nodes.one.service.baseUrl).href
        const location = turns === 1 ? old : link
        response.writeHead(307, { location, etag: '"of the document"' }).end()
      })
      await using api = clientOf(door)
      const { pathname, search } = new URL(await linkOf('/large'))
      const range = { offset: 5, length: 50 }
      const download = await api.files('acme').download(`${door.origin}${pathname}${search}`, '/large', range)
      expect(download).toMatchObject({ totalSize: 100_000, etag: '"of the document"' })
      expect((await collect(download.chunks)).equals(content.subarray(5, 55))).toBe(true)
      expect(turns).toBe(2)
    })

    test('doctor follows to the bucket, and finds that downloads honour Range', async () => {
      await nodes.one.put('/large', content)
      const checks = await checkService(nodes.one.service.baseUrl, { key: nodes.one.key }, 'acme')
      expect(checks.filter(({ result }) => result !== 'good')).toEqual([])
      expect(checks).toContainEqual({ name: 'Range', result: 'good', finding: 'downloads honour it' })
    })

    test('no log line holds where a download was sent', async () => {
      await nodes.close()
      const lines: string[] = []
      const note = (fields: object, words?: string): void => void lines.push(JSON.stringify([fields, words]))
      const log = { debug: note, info: note, warn: note, error: note } as unknown as Log
      nodes = await startNodes({ blobs: { ...blobs, redirectsDownloads: true }, log, accessLog: log })
      await nodes.one.put('/large', content)
      expect((await fetch(await linkOf('/large'))).status).toBe(200)
      await expect.poll(() => lines.some((line) => line.includes('307'))).toBe(true)
      expect(lines.join('')).not.toContain('X-Amz-')
    })
  })

  test('with a wrong key are refused at the start, and no message holds it', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'docmount')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not-the-secret')
    const refusal = await startService({ database: await freshDatabase(), blobs }).catch(
      (error: unknown) => error,
    )
    vi.stubEnv('AWS_ACCESS_KEY_ID', '')
    expect(String(refusal)).toMatch(/403|SignatureDoesNotMatch/)
    expect(String(refusal)).not.toContain('not-the-secret')
  })
})

test('a request to the bucket is signed for the time of all nodes, whatever the clock of this one says', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  await using door = await startRawServer((_, response) => void response.end('<ListBucketResult/>'))
  const backend = await openS3Backend({ url: `s3://b?endpoint=${door.origin}` }, () => Date.UTC(2031, 0, 2))
  await backend.remove('some-key')
  expect(door.requests.map(({ headers }) => headers['x-amz-date'])).toEqual(
    door.requests.map(() => '20310102T000000Z'),
  )
})

test.each([
  ['too few bytes', 206, 99],
  ['too many', 206, 101],
  ['all there are, for a range', 200, 300],
])('what a bucket answers with %s breaks off: nobody is sent it for the whole', async (_, status, bytes) => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
  await using door = await startRawServer((request, response) => {
    response.writeHead(request.url!.includes('list-type') ? 200 : status)
    response.end(Buffer.alloc(bytes))
  })
  const backend = await openS3Backend({ url: `s3://b?endpoint=${door.origin}` }, Date.now)
  const stream = (await backend.stream('some-key', 0, 99))!
  await expect(collect(stream)).rejects.toThrow('not of the length')
})

test('an address of a bucket carries no key, and is refused without a database', async () => {
  const database = { url: 'postgres://docmount@h/d' }
  await expect(startService({ blobs: { url: 's3://b' }, dataDir: '/nowhere' })).rejects.toThrow(StartError)
  await expect(startService({ database })).rejects.toThrow()
  const { parseBucket } = await import('../../../src/service/blobs/s3/address.ts')
  expect(() => parseBucket({ url: 's3://id:secret@bucket' })).toThrow(/AWS_ACCESS_KEY_ID/)
  expect(() => parseBucket({ url: 'https://bucket' })).toThrow(/s3:/)
  for (const endpoint of ['ftp://s3.example', 'https://id:secret@s3.example', 'nothing'])
    expect(() => parseBucket({ url: `s3://b?endpoint=${endpoint}` })).toThrow(/^the endpoint (?!.*secret)/)
  expect(parseBucket({ url: 's3://b/a/b/?endpoint=https://s3.example:9000/' })).toEqual({
    base: 'https://s3.example:9000/b/',
    prefix: 'a/b/',
    region: 'us-east-1',
    encryption: {},
  })
})
