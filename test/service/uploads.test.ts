import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { open, readdir, rm, truncate } from 'node:fs/promises'
import { type IncomingMessage, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import Libsql from 'libsql'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isOnPostgres } from '../support/store.ts'
import { type TestService, documentOf, errorOf, files, startTestService } from './support.ts'

let service: TestService
let lenient: TestService

beforeAll(async () => {
  service = await startTestService()
  lenient = await startTestService({ allowPrivateUris: true })
})
afterAll(() => Promise.all([service.close(), lenient.close()]))

function put(path: string, body: unknown, to: TestService = service): Promise<Response> {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  return to.call('PUT', files(path), {
    body: text as string,
    headers: { 'content-type': 'application/json' },
  })
}

async function contentOf(path: string, of: TestService = service): Promise<Buffer> {
  const { url } = (await (await of.get(path)).json()) as { url: string }
  return Buffer.from(await (await fetch(url)).arrayBuffer())
}

/** Bytes that repeat nowhere near. */
function bytesOf(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  let state = seed
  for (let at = 0; at < length; at++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    bytes[at] = state >> 16
  }
  return bytes
}

describe('binary', () => {
  test.each([0, 1, 2, 3, 100, 49_152, 65_535, 65_536, 200_001, 3_000_000])(
    'of %i bytes is kept as it is',
    async (size) => {
      const content = bytesOf(size)
      const answer = await put(`/sizes/${size}.txt`, documentOf(content))
      expect(await answer.json()).toMatchObject({ size })
      expect((await contentOf(`/sizes/${size}.txt`)).equals(content)).toBe(true)
    },
  )

  const content = bytesOf(300_000, 7)
  const base64 = content.toString('base64')
  const head = '{"mimetype":"text/plain","filename":"a","file_type":"binary","file":"'
  test.each([
    ['escaped slashes', base64.replaceAll('/', '\\/')],
    ['lines', base64.replaceAll(/.{76}/g, '$&\\r\\n')],
    [
      'unicode escapes',
      base64.replaceAll('/', '\\u002f').replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'),
    ],
    ['the url-safe alphabet without padding', content.toString('base64url')],
    ['the url-safe alphabet with padding', base64.replaceAll('+', '-').replaceAll('/', '_')],
    ['spaces', base64.replaceAll(/.{1000}/g, '$& ')],
  ])('with %s is understood', async (name, text) => {
    for (const length of [text.length, 0]) {
      // Short texts take another way than long ones.
      const isLong = length > 0
      const sent = isLong ? text : name.startsWith('the') ? 'AP-_' : '\\/+\\u0041A\\r\\n AA=='
      const path = `/alphabets/${name}-${isLong ? 'long' : 'short'}.txt`
      expect((await put(path, `${head}${sent}"}`)).status).toBe(201)
      const expected = isLong
        ? content
        : name.startsWith('the')
          ? Buffer.from([0, 255, 191])
          : Buffer.from('/+AAAA==', 'base64')
      expect((await contentOf(path)).equals(expected)).toBe(true)
    }
  })

  test.each([
    [
      'a character outside the alphabet',
      (text: string) => `${text.slice(0, 150_000)}*${text.slice(150_001)}`,
    ],
    ['an escaped backslash', (text: string) => `${text.slice(0, 150_000)}\\\\/${text.slice(150_002)}`],
    ['padding in the middle', (text: string) => `${text.slice(0, 150_000)}=${text.slice(150_001)}`],
    ['too much padding', (text: string) => `${text}===`],
    ['one character too many', (text: string) => `${text}A`],
    ['a raw line break', (text: string) => `${text.slice(0, 150_000)}\n${text.slice(150_000)}`],
    ['a character beyond ASCII', (text: string) => `${text.slice(0, 150_000)}é${text.slice(150_001)}`],
  ])('with %s is refused', async (name, spoil) => {
    const path = `/spoiled/${name}.txt`
    for (const text of [spoil(base64), spoil('AAAA')]) {
      expect(await errorOf(await put(path, `${head}${text}"}`))).toMatchObject({ status: 400 })
    }
    expect((await service.get(path)).status).toBe(404)
  })

  test('may come before the fields that describe it', async () => {
    const body = `{"file":"${base64}","file_type":"binary","filename":"a","mimetype":"text/plain"}`
    expect((await put('/order.txt', body)).status).toBe(201)
    expect((await contentOf('/order.txt')).equals(content)).toBe(true)
  })

  test('is not mistaken for what another key holds', async () => {
    const long = 'x'.repeat(100_000)
    const body = `{"filename":"${long}","file" : "${base64}","mimetype":"text/plain","file_type":"binary"}`
    expect((await put('/keys.txt', body)).status).toBe(201)
    expect((await contentOf('/keys.txt')).equals(content)).toBe(true)
  })

  test('of a body with more than 1 MiB beside the content answers 413', async () => {
    const body = `{"filename":"${'x'.repeat(1_100_000)}","file":"","mimetype":"text/plain","file_type":"binary"}`
    expect(await errorOf(await put('/too-much.txt', body))).toMatchObject({ status: 413 })
  })

  test('of the same content twice is kept once, and stays while one of the two does', async () => {
    const large = bytesOf(500_000, 9)
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((name) => put(`/same/${name}.txt`, documentOf(large))),
    )
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201])
    await service.delete('/same/a.txt')
    await service.delete('/same/b.txt')
    expect((await contentOf('/same/c.txt')).equals(large)).toBe(true)
  })
})

describe('a taken path', () => {
  test('is answered with 409 before the body is read, and the connection serves on', async () => {
    await put('/taken.bin.txt', documentOf('x'))
    const agent = new Agent({ connections: 1 })
    const chunk = Buffer.alloc(1024 * 1024, 'A')
    for (const known of [true, false]) {
      let sent = 0
      async function* body(): AsyncGenerator<Buffer> {
        yield Buffer.from('{"mimetype":"text/plain","filename":"a","file_type":"binary","file":"')
        for (; sent < 400; sent++) yield chunk
        yield Buffer.from('"}')
      }
      const answer = await request(`${service.service.baseUrl}${files('/taken.bin.txt')}`, {
        method: 'PUT',
        dispatcher: agent,
        body: Readable.from(body()),
        headers: {
          'x-api-key': service.key,
          'content-type': 'application/json',
          ...(known ? { 'content-length': String(71 + 400 * chunk.byteLength) } : {}),
        },
      })
      expect(answer.statusCode).toBe(409)
      expect(await answer.body.json()).toEqual({ errorMessage: expect.stringContaining('already exists') })
      expect(sent).toBeLessThan(100)
      const next = await request(`${service.service.baseUrl}/projects`, {
        dispatcher: agent,
        headers: { 'x-api-key': service.key },
      })
      expect([next.statusCode, await next.body.json()]).toEqual([200, expect.anything()])
    }
    await agent.close()
  })

  test('is answered with 409 also to a client that sends everything first', async () => {
    const body = JSON.stringify(documentOf(bytesOf(6_000_000)))
    const status = await new Promise<number>((resolve, reject) => {
      const sending = httpRequest(`${service.service.baseUrl}${files('/taken.bin.txt')}`, {
        method: 'PUT',
        headers: { 'x-api-key': service.key, 'content-length': Buffer.byteLength(body) },
      })
      let received: IncomingMessage | undefined
      sending.once('response', (answer) => {
        received = answer
        answer.resume()
      })
      sending.once('error', reject)
      sending.end(body, () => {
        sending.once('close', () => resolve(received?.statusCode ?? 0))
        received?.once('end', () => resolve(received?.statusCode ?? 0))
      })
    })
    expect(status).toBe(409)
  })

  test('that was free when the body began is refused when it ends', async () => {
    const agent = new Agent({ connections: 2 })
    let goOn = (): void => {}
    const paused = new Promise<void>((resolve) => (goOn = resolve))
    async function* slow(): AsyncGenerator<string> {
      yield '{"mimetype":"text/plain","filename":"a","file_type":"binary",'
      await paused
      yield '"file":"AAAA"}'
    }
    const slowAnswer = request(`${service.service.baseUrl}${files('/overtaken.txt')}`, {
      method: 'PUT',
      dispatcher: agent,
      body: Readable.from(slow()),
      headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
    })
    expect((await put('/overtaken.txt', documentOf('first'))).status).toBe(201)
    goOn()
    expect((await slowAnswer).statusCode).toBe(409)
    expect((await contentOf('/overtaken.txt')).toString()).toBe('first')
    await agent.close()
  })
})

describe('a client that goes away in the middle of a body', () => {
  test('leaves nothing behind', async () => {
    const { readdir } = await import('node:fs/promises')
    const incoming = `${service.dataDir}/blobs/incoming`
    const aborter = new AbortController()
    async function* endless(): AsyncGenerator<string> {
      yield '{"mimetype":"text/plain","filename":"a","file_type":"binary","file":"'
      for (;;) {
        yield 'A'.repeat(65_536)
        await sleep(1)
      }
    }
    const sending = request(`${service.service.baseUrl}${files('/gone.txt')}`, {
      method: 'PUT',
      body: Readable.from(endless()),
      signal: aborter.signal,
      headers: { 'x-api-key': service.key },
    }).catch(() => undefined)
    await expect.poll(async () => (await readdir(incoming)).length).toBe(1)
    aborter.abort()
    await sending
    await expect.poll(async () => (await readdir(incoming)).length).toBe(0)
    expect((await service.get('/gone.txt')).status).toBe(404)
  })
})

describe('multipart', () => {
  test('is stored as one MIME document with every part in order', async () => {
    const image = bytesOf(100_000, 3)
    const body = {
      mimetype: 'multipart/related',
      filename: 'letter',
      file_type: 'multipart',
      file: [
        { text: 'Grüße\nzweite Zeile' },
        { file: { mimetype: 'image/png', file_type: 'binary', content: image.toString('base64') } },
        {
          text: 'both',
          file: { mimetype: 'text/csv', file_type: 'binary', content: Buffer.from('a;b').toString('base64') },
        },
        {},
      ],
    }
    const answer = await put('/letter.mht', body)
    expect(answer.status).toBe(201)
    const stored = await contentOf('/letter.mht')
    expect(await answer.json()).toMatchObject({ mimetype: 'multipart/related', size: stored.byteLength })
    const [head = '', ...rest] = stored.toString('latin1').split(/\r\n--part-[0-9a-f-]{36}/)
    expect(head).toMatch(
      /^MIME-Version: 1\.0\r\nContent-Type: multipart\/related; boundary="part-[0-9a-f-]+"\r\n$/,
    )
    expect(rest.pop()).toBe('--\r\n')
    const parts = rest.map((part) => {
      const at = part.indexOf('\r\n\r\n')
      return { header: part.slice(2, at), body: part.slice(at + 4) }
    })
    expect(parts.map((part) => part.header.split('\r\n')[0])).toEqual([
      'Content-Type: text/plain; charset=utf-8',
      'Content-Type: image/png',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Type: text/csv',
    ])
    expect(Buffer.from(parts[0]!.body, 'latin1').toString()).toBe('Grüße\nzweite Zeile')
    expect(Buffer.from(parts[1]!.body, 'base64').equals(image)).toBe(true)
    expect(Math.max(...parts[1]!.body.split('\r\n').map((line) => line.length))).toBe(76)
    expect(parts[2]!.body).toBe('both')
    expect(Buffer.from(parts[3]!.body, 'base64').toString()).toBe('a;b')
  })

  test('of many parts below 64 KiB fits as well as one large part', async () => {
    const content = bytesOf(40_000).toString('base64')
    const part = { file: { mimetype: 'text/plain', file_type: 'binary', content } }
    const body = {
      mimetype: 'multipart/related',
      filename: 'a',
      file_type: 'multipart',
      file: Array.from({ length: 100 }, () => part),
    }
    const answer = await put('/many-parts.mht', body)
    expect(answer.status).toBe(201)
    expect(((await answer.json()) as { size: number }).size).toBeGreaterThan(100 * content.length)
  })

  test.each([
    ['a header in a mimetype', { file: { mimetype: 'a/b\r\nX: y', file_type: 'binary', content: '' } }],
    ['no content', { file: { mimetype: 'a/b', file_type: 'binary' } }],
    ['an unknown file_type', { file: { mimetype: 'a/b', file_type: 'multipart', content: '' } }],
    ['bad base64', { file: { mimetype: 'a/b', file_type: 'binary', content: '***' } }],
    ['a number as text', { text: 7 }],
    ['a text for a part', 'text'],
  ])('with %s is refused', async (_, part) => {
    const body = { mimetype: 'multipart/related', filename: 'a', file_type: 'multipart', file: [part] }
    expect(await errorOf(await put('/refused.mht', body))).toMatchObject({ status: 400 })
  })
})

describe('a content that the disk has damaged', () => {
  const damages: [string, (file: string) => Promise<void>][] = [
    ['changed', (file) => writeAt(file, 70_000, 'damage')],
    ['cut short', (file) => truncate(file, 1_000)],
    ['gone', (file) => rm(file)],
  ]
  /** Of the files of contents, the newest one. */
  async function newestFile(): Promise<string> {
    const folder = join(service.dataDir, 'blobs')
    const names = (await readdir(folder, { recursive: true })).filter((name) => /[0-9a-f]{64}$/.test(name))
    const found = names.map((name) => ({
      file: join(folder, name),
      at: statSync(join(folder, name)).mtimeMs,
    }))
    return found.toSorted((a, b) => b.at - a.at)[0]!.file
  }
  async function writeAt(file: string, at: number, text: string): Promise<void> {
    const handle = await open(file, 'r+')
    await handle.write(text, at)
    await handle.close()
  }

  test.each(damages)('is replaced by whoever stores the same bytes: one that was %s', async (how, damage) => {
    const content = bytesOf(200_000, how.length)
    expect((await put(`/damaged/${how}.bin`, documentOf(content))).status).toBe(201)
    await damage(await newestFile())
    expect((await put(`/again/${how}.bin`, documentOf(content))).status).toBe(201)
    expect(await contentOf(`/again/${how}.bin`)).toEqual(content)
    expect(await contentOf(`/damaged/${how}.bin`)).toEqual(content)
  })

  test.each(damages)('is never downloaded as a whole: one that was %s', async (how, damage) => {
    for (const size of [200_000, 5_000_000]) {
      const path = `/damaged/${how}-${size}.bin`
      await put(path, documentOf(bytesOf(size, size + how.length)))
      const { url } = (await (await service.get(path)).json()) as { url: string }
      await damage(await newestFile())
      const isCut = how === 'changed' && size > 1024 * 1024
      if (isCut) {
        const answer = await fetch(url)
        await expect(answer.arrayBuffer()).rejects.toThrow()
      } else {
        const refused = {
          status: 503,
          message: `the content of ${path} is damaged: store that document again`,
        }
        expect([size, await errorOf(await fetch(url))]).toEqual([size, refused])
      }
    }
  })

  test('is not given to another document by its link, alone or as a part', async () => {
    const content = bytesOf(200_000, 77)
    expect((await put('/damaged/linked.bin', documentOf(content))).status).toBe(201)
    await writeAt(await newestFile(), 70_000, 'damage')
    const { url } = (await (await service.get('/damaged/linked.bin')).json()) as { url: string }
    const alone = { mimetype: 'text/plain', filename: 'a', file_type: 'uri', file: url }
    const part = { file: { mimetype: 'text/plain', file_type: 'uri', content: url } }
    for (const body of [alone, { ...alone, file_type: 'multipart', file: [part] }])
      expect(await errorOf(await put('/copy.bin', body))).toEqual({
        status: 503,
        message: 'the content of /damaged/linked.bin is damaged: store that document again',
      })
    expect((await service.get('/copy.bin')).status).toBe(404)
  })
})

test.skipIf(isOnPostgres)('small content that the database holds damaged is replaced, too', async () => {
  const content = bytesOf(2_000, 5)
  expect((await put('/small.bin', documentOf(content))).status).toBe(201)
  const database = new Libsql(join(service.dataDir, 'service.db'))
  const sha256 = createHash('sha256').update(content).digest('hex')
  database.prepare('update small_contents set bytes = ? where sha256 = ?').run(Buffer.from('damage'), sha256)
  database.close()
  const { url } = (await (await service.get('/small.bin')).json()) as { url: string }
  expect(await errorOf(await fetch(url))).toMatchObject({ status: 503 })
  expect((await put('/small-again.bin', documentOf(content))).status).toBe(201)
  expect(await contentOf('/small-again.bin')).toEqual(content)
})

describe('uri', () => {
  const uri = (url: string): object => ({
    mimetype: 'text/plain',
    filename: 'a',
    file_type: 'uri',
    file: url,
  })

  test("of the service's own presigned url copies the document without a request", async () => {
    for (const size of [10, 200_000]) {
      const content = bytesOf(size, 5)
      await put(`/own/${size}.txt`, documentOf(content))
      const { url } = (await (await service.get(`/own/${size}.txt`)).json()) as { url: string }
      service.service.clearCalls()
      const answer = await put(`/own/${size}-copy.txt`, uri(url))
      expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ size })])
      expect(service.service.calls.map((call) => call.endpoint)).toEqual(['files'])
      await service.delete(`/own/${size}.txt`)
      expect((await contentOf(`/own/${size}-copy.txt`)).equals(content)).toBe(true)
    }
  })

  test('of a deleted document, or with a signature that is not ours, is refused', async () => {
    await put('/own/gone.txt', documentOf('x'))
    const { url } = (await (await service.get('/own/gone.txt')).json()) as { url: string }
    const forged = url.replace(/signature=(.)/, (_, first) => `signature=${first === '_' ? '-' : '_'}`)
    expect(await errorOf(await put('/own/forged.txt', uri(forged)))).toMatchObject({ status: 400 })
    await service.delete('/own/gone.txt')
    expect(await errorOf(await put('/own/late.txt', uri(url)))).toMatchObject({ status: 400 })
  })

  test.each([
    ['http://127.0.0.1:1/x'],
    ['http://localhost:1/x'],
    ['http://[::1]:1/x'],
    ['http://[::ffff:127.0.0.1]/x'],
    ['http://10.0.0.1/x'],
    ['http://169.254.169.254/latest/meta-data'],
    ['http://0x7f.1/x'],
    ['http://2130706433/x'],
    ['ftp://example.com/x'],
    ['file:///etc/passwd'],
    ['data:text/plain,x'],
  ])('of %s is refused, and the message does not repeat it', async (url) => {
    const answer = await errorOf(await put('/private.txt', uri(url)))
    expect(answer.status).toBe(400)
    expect(answer.message).not.toContain(url)
    expect(answer.message).toMatch(/private address|neither http nor https/)
  })

  test("of the service's own address is refused where it is no link that is valid, whatever private ones are allowed", async () => {
    const open = await startTestService({
      allowPrivateUris: true,
      publicUrl: 'https://documents.example/store',
    })
    const { port } = open.service
    const moved = createServer((_, answer) =>
      answer.writeHead(302, { location: `http://127.0.0.1:${port}/api/health` }).end(),
    )
    await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve))
    for (const url of [
      `http://127.0.0.1:${port}/api/health`,
      `http://localhost:${port}/api/health`,
      `http://[::ffff:127.0.0.1]:${port}/api/health`,
      `http://127.0.0.1:${(moved.address() as AddressInfo).port}/`,
      'https://documents.example/api/health',
      'http://documents.example/',
    ])
      expect([url, await errorOf(await put('/own.txt', uri(url), open))]).toEqual([
        url,
        { status: 400, message: 'the uri leads to this service, and is no link of it that is valid' },
      ])
    moved.close()
    await open.close()
  })

  test('of some kilobytes, as one that is signed with a token has, is fetched, alone and in a part', async () => {
    const host = createServer((_, answer) => void answer.end('signed'))
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    for (const chars of [500, 1_000, 1_020, 1_100, 5_000]) {
      const url = `${base}/x?X-Amz-Security-Token=${'%2Ftoken+'.repeat(chars / 9)}`
      const alone = await put(`/signed/${chars}.txt`, uri(url), lenient)
      expect([chars, alone.status, await alone.json()]).toEqual([
        chars,
        201,
        expect.objectContaining({ size: 6 }),
      ])
      const part = { file: { mimetype: 'text/plain', file_type: 'uri', content: url } }
      const body = { ...uri(''), file_type: 'multipart', file: [part] }
      expect([chars, (await put(`/signed/${chars}.mht`, body, lenient)).status]).toEqual([chars, 201])
    }
    host.closeAllConnections()
    host.close()
  })

  test('of another host is fetched, through redirects; what does not answer 200 is refused', async () => {
    const content = bytesOf(300_000, 11)
    const host = createServer((incoming, answer) => {
      expect(incoming.headers['x-api-key']).toBeUndefined()
      if (incoming.url === '/moved') answer.writeHead(302, { location: '/here?signature=s' }).end()
      else if (incoming.url?.startsWith('/here')) answer.end(content)
      else if (incoming.url === '/round') answer.writeHead(302, { location: '/round' }).end()
      else if (incoming.url === '/cut') {
        answer.writeHead(200, { 'content-length': '1000' })
        answer.write('x', () => answer.destroy())
      } else answer.writeHead(404).end('secret')
    })
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    expect((await put('/fetched.txt', uri(`${base}/moved`), lenient)).status).toBe(201)
    expect((await contentOf('/fetched.txt', lenient)).equals(content)).toBe(true)
    expect((await errorOf(await put('/a.txt', uri(`${base}/nowhere`), lenient))).message).toContain('404')
    expect((await errorOf(await put('/a.txt', uri(`${base}/round`), lenient))).message).toContain('redirects')
    expect(await errorOf(await put('/a.txt', uri(`${base}/cut`), lenient))).toMatchObject({ status: 400 })
    expect(await errorOf(await put('/a.txt', uri('http://127.0.0.1:1/'), lenient))).toMatchObject({
      status: 400,
    })
    expect((await lenient.get('/a.txt')).status).toBe(404)
    // A public host may not lead to a private one.
    expect(await errorOf(await put('/b.txt', uri(`${base}/moved`)))).toMatchObject({ status: 400 })
    host.closeAllConnections()
    host.close()
  })
})

// Contents that nodes share are kept for a while: `postgres/sweep.test.ts`.
test.skipIf(isOnPostgres)('content nothing refers to is removed from the disk', async () => {
  const { readdir } = await import('node:fs/promises')
  const content = bytesOf(150_000, 99)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const folder = `${service.dataDir}/blobs/${sha256.slice(0, 2)}`
  await put('/collected.txt', documentOf(content))
  expect(await readdir(folder)).toContain(sha256)
  await service.delete('/collected.txt')
  await expect.poll(() => readdir(folder)).not.toContain(sha256)
})
