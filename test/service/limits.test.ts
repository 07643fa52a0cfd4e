// Limits of what anybody may ask of the service: each has a default, can be set, and says what it is.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type Limits, defaultLimits } from '../../src/service/index.ts'
import { TokenBuckets } from '../../src/service/edge/token-buckets.ts'
import { isOnPostgres } from '../support/store.ts'
import { type TestService, documentOf, errorOf, files, startTestService } from './support.ts'

let service: TestService
afterEach(() => service.close())

async function start(limits: Partial<Limits> = {}): Promise<void> {
  service = await startTestService({ limits, trustProxy: ['127.0.0.0/8'] })
}

const json = { 'content-type': 'application/json' }
const put = (path: string, body: unknown): Promise<Response> =>
  service.call('PUT', files(path), {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: json,
  })
const post = (path: string, body: string): Promise<Response> =>
  service.call('POST', `/projects/acme/tables${path}`, { body, headers: json })

/** The longest path (bytes): what an index of the store can hold. */
const pathBytes = isOnPostgres ? 2_560 : 4_096
/** A path of so many bytes, of names as long as they may be. */
function longPath(bytes: number): string {
  const names = `/${'n'.repeat(254)}`.repeat(Math.floor(bytes / 255))
  return names + '/x'.padEnd(bytes - names.length, 'x')
}

describe('a path', () => {
  test.each([
    ['a name of 256 bytes', `/${'n'.repeat(256)}`, 'a name in the path has more than 255 bytes'],
    ['a name of 128 letters of two bytes', `/${'ü'.repeat(128)}.txt`, '255 bytes'],
    ['one byte too many', longPath(pathBytes + 1), `the path has more than ${pathBytes} bytes`],
    ['65 names', `${'/d'.repeat(64)}/x.txt`, 'the path is more than 64 names deep'],
    ['3,300 names', `${'/d'.repeat(3300)}/x.txt`, `${pathBytes} bytes`],
  ])('of %s is refused, and nothing is made', async (_, path, words) => {
    await start()
    expect(await errorOf(await service.put(path, 'x'))).toEqual({
      status: 400,
      message: expect.stringContaining(words),
    })
    expect(((await (await service.get('/')).json()) as { entries: [] }).entries).toEqual([])
  })

  test('of the longest name, the longest path and the deepest folder is taken', async () => {
    await start()
    for (const path of [`/${'n'.repeat(255)}`, `${'/d'.repeat(63)}/x.txt`, longPath(pathBytes)])
      expect([path.length, (await service.put(path, 'x')).status]).toEqual([path.length, 201])
  })

  test('may be as long as the operator says', async () => {
    await start({ nameBytes: 8, depth: 0 })
    expect((await service.put('/123456789', 'x')).status).toBe(400)
    expect((await service.put(`${'/d'.repeat(200)}/x.txt`, 'x')).status).toBe(201)
  })
})

describe('a body', () => {
  const deep = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2)

  test('of JSON nested too deeply is refused before anything is made of it', async () => {
    await start()
    const words = 'the body is nested more than 64 levels deep'
    for (const body of [deep(66), `{"data":${deep(100_000)}}`, '['.repeat(4_000_000)])
      expect(await errorOf(await post('/x/reconcile', body))).toEqual({ status: 400, message: words })
    expect(await errorOf(await put('/a.txt', `{"file":${deep(66)}}`))).toEqual({
      status: 400,
      message: words,
    })
    // Brackets within a string are no nesting.
    expect((await put('/b.txt', { ...documentOf('x'), more: '[{"'.repeat(100) })).status).toBe(201)
  })

  test('of JSON with too many values is refused', async () => {
    await start({ jsonValues: 1000 })
    expect(
      await errorOf(await post('/x/reconcile', JSON.stringify({ data: { a: Array(1001).fill(1) } }))),
    ).toEqual({
      status: 413,
      message: 'the body holds more than 1000 values: send it in several',
    })
  })

  test('of JSON with too many names in one object is refused, however deep it is', async () => {
    await start({ jsonNames: 100 })
    const named = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`name ${at}`, [1, 2, {}]]))
    const message = 'an object of the body has more than 100 names'
    for (const body of [named(101), { data: [{ a: {} }, named(101)] }])
      expect(await errorOf(await post('/x/reconcile', JSON.stringify(body)))).toEqual({
        status: 413,
        message,
      })
    const many = { data: [named(100), named(100), Array(1_000).fill(1)] }
    expect((await post('/x/reconcile', JSON.stringify(many))).status).toBe(400)
  })

  test('of JSON above 4 MiB is refused: while it is parsed nobody else is served', async () => {
    await start()
    const body = (bytes: number): string => JSON.stringify({ data: 'x'.repeat(bytes) })
    expect((await post('/x/reconcile', body(4 * 2 ** 20))).status).toBe(413)
    expect((await post('/x/reconcile', body(4 * 2 ** 20 - 100))).status).toBe(400)
  })

  test('of JSON may be as large as the operator says', async () => {
    await start({ jsonBytes: 1000 })
    expect(
      await errorOf(await post('/x/reconcile', JSON.stringify({ data: 'x'.repeat(1000) }))),
    ).toMatchObject({
      status: 413,
    })
  })

  test('of too many bytes of a document is refused with 413, also when made of parts', async () => {
    await start({ documentBytes: 100_000 })
    const tooLarge = { status: 413, message: 'a document has at most 100000 bytes' }
    expect(await errorOf(await service.put('/a.txt', Buffer.alloc(100_001)))).toEqual(tooLarge)
    expect((await service.put('/b.txt', Buffer.alloc(100_000))).status).toBe(201)
    const part = { file: { mimetype: 'a/b', file_type: 'binary', content: 'A'.repeat(60_000) } }
    const document = {
      mimetype: 'multipart/related',
      filename: 'a',
      file_type: 'multipart',
      file: [part, part, part],
    }
    expect(await errorOf(await put('/c.mht', document))).toEqual(tooLarge)
    // Also where a document stands: who deletes that first has neither.
    expect(await errorOf(await service.put('/b.txt', Buffer.alloc(100_001)))).toEqual(tooLarge)
    expect((await service.put('/b.txt', Buffer.alloc(100_000))).status).toBe(409)
  })

  test('of more than 1,000 parts is refused', async () => {
    await start()
    const parts = {
      files: { file: { mimetype: 'a/b', file_type: 'binary', content: 'QUJD' } },
      texts: { text: 'x' },
      nothing: {},
    }
    for (const [kind, part] of Object.entries(parts)) {
      const document = (count: number): object => ({
        mimetype: 'multipart/related',
        filename: 'a',
        file_type: 'multipart',
        file: Array.from({ length: count }, () => part),
      })
      expect((await put(`/all/${kind}.mht`, document(1000))).status).toBe(201)
      expect(await errorOf(await put(`/more/${kind}.mht`, document(1001)))).toEqual({
        status: 413,
        message: 'a document has at most 1000 parts',
      })
    }
  })

  test('of parts by uri, of which little is sent and much is stored, has a bound of number and of bytes', async () => {
    const content = Buffer.alloc(50_000, 'x')
    await start({ multipartBytes: 1_000_000 })
    await service.put('/own.txt', content)
    const { url } = (await (await service.get('/own.txt')).json()) as { url: string }
    const part = { file: { mimetype: 'text/plain', file_type: 'uri', content: url } }
    const putParts = (count: number): Promise<Response> =>
      put('/parts.mht', {
        mimetype: 'multipart/related',
        filename: 'a',
        file_type: 'multipart',
        file: Array.from({ length: count }, () => part),
      })
    expect(await errorOf(await putParts(101))).toEqual({
      status: 413,
      message: 'a document has at most 100 parts by uri: send the others as binary',
    })
    expect(await errorOf(await putParts(20))).toEqual({
      status: 413,
      message: 'a document has at most 1000000 bytes',
    })
    expect((await service.get('/parts.mht')).status).toBe(404)
    expect((await putParts(10)).status).toBe(201)
    expect(defaultLimits).toMatchObject({ multipartBytes: 1024 ** 3, uploadMs: 12 * 3_600_000 })
  })

  test('of parts that are fetched takes no longer than an upload may, however many there are', async () => {
    service = await startTestService({ limits: { uploadMs: 1_000 }, allowPrivateUris: true })
    let asked = 0
    const host = createServer((_, answer) => {
      asked++
      const drip = setInterval(() => answer.write('x'), 20)
      answer.on('close', () => clearInterval(drip))
    })
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
    const content = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`
    const part = { file: { mimetype: 'text/plain', file_type: 'uri', content } }
    const document = { mimetype: 'multipart/related', filename: 'a', file_type: 'multipart' }
    expect(await errorOf(await put('/fetched.mht', { ...document, file: [part, part, part] }))).toEqual({
      status: 400,
      message: 'the uri took too long',
    })
    expect(asked).toBe(1)
    host.closeAllConnections()
    host.close()
  })

  test('of parts keeps at most 1 MiB of them in memory', async () => {
    await start()
    const content = Buffer.alloc(30_000).toString('base64')
    const part = JSON.stringify({ file: { mimetype: 'a/b', file_type: 'binary', content } })
    const head = '{"mimetype":"multipart/related","filename":"a","file_type":"multipart","file":['
    const body = head + Array.from({ length: 100 }, () => part).join(',')
    const socket = connect(service.service.port, '127.0.0.1')
    socket.write(
      `PUT /api${files('/x.mht')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length + 10_000}\r\n\r\n${body}`,
    )
    const staged = async (): Promise<number> => (await readdir(`${service.dataDir}/blobs/incoming`)).length
    // 100 parts of 30,000 bytes came; those that fit into 1 MiB have no file.
    await expect.poll(staged).toBeGreaterThan(45)
    socket.destroy()
    await expect.poll(staged).toBe(0)
  })

  test('that hardly comes is given up with 408', async () => {
    await start({ bodyPeriodMs: 100, bodyBytesPerSecond: 1000 })
    const socket = connect(service.service.port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.write(
      `PUT /api${files('/slow.txt')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"mimetype":"',
    )
    const drip = setInterval(() => socket.write('x'), 20)
    socket.on('error', () => undefined)
    await once(socket, 'close')
    clearInterval(drip)
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[^]*"errorMessage":"the body came too slowly"/)
    expect((await service.get('/slow.txt')).status).toBe(404)
  })

  test('that comes steadily and for too long is given up with 408', async () => {
    await start({ uploadMs: 300, bodyPeriodMs: 0 })
    const socket = connect(service.service.port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.write(
      `PUT /api${files('/long.txt')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100000000\r\n\r\n{"mimetype":"',
    )
    const drip = setInterval(() => socket.write('x'.repeat(1000)), 5)
    socket.on('error', () => undefined)
    await once(socket, 'close')
    clearInterval(drip)
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[^]*"errorMessage":"the upload took too long"/)
    expect((await service.get('/long.txt')).status).toBe(404)
  })

  test.each([0, 2 ** 32])(
    'is waited for where the period is none, or more than a timer counts: %i ms',
    async (bodyPeriodMs) => {
      await start({ bodyPeriodMs, bodyBytesPerSecond: 1000 })
      const body = JSON.stringify(documentOf('content'))
      const socket = connect(service.service.port, '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
      socket.write(
        `PUT /api${files('/late.txt')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\nConnection: close\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
      )
      for (let turn = 0; turn < 20; turn++) await service.get('/')
      socket.write(body.slice(10))
      await once(socket, 'close')
      expect(answer).toMatch(/^HTTP\/1\.1 201 /)
    },
  )

  test.each([
    ['without a key', '/api/projects/acme/files?path=/a.txt', 401],
    ['for no endpoint', '/nowhere', 404],
  ])('that hardly comes ends its connection, though it was refused at once: %s', async (_, path, status) => {
    await start({ bodyPeriodMs: 100, bodyBytesPerSecond: 1000 })
    const socket = connect(service.service.port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.on('error', () => undefined)
    socket.write(`PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`)
    const drip = setInterval(() => socket.write('x'), 20)
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(drip)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })
})

describe('a project', () => {
  const storage = (name: string, content: string): Promise<Response> =>
    post('/storage', JSON.stringify({ name, document: documentOf(content) }))

  test('takes no more bytes than it may hold, until something is deleted', async () => {
    await start({ projectBytes: 100_000 })
    const full = { status: 507, message: 'the project has no room for these bytes: delete something first' }
    expect((await service.put('/folder/a.txt', Buffer.alloc(60_000))).status).toBe(201)
    expect(await errorOf(await service.put('/b.txt', Buffer.alloc(60_000)))).toEqual(full)
    expect((await storage('one', 'x'.repeat(30_000))).status).toBe(201)
    expect(await errorOf(await storage('two', 'x'.repeat(30_000)))).toEqual(full)
    expect((await service.get('/b.txt')).status).toBe(404)
    await service.delete('/folder')
    expect((await service.put('/b.txt', Buffer.alloc(60_000))).status).toBe(201)
    // A copy within the service takes room too.
    const { url } = (await (await service.get('/b.txt')).json()) as { url: string }
    expect(await errorOf(await put('/c.txt', { ...documentOf(''), file_type: 'uri', file: url }))).toEqual(
      full,
    )
  })

  test('counts tables, rows and runs too, and forgets none of them', async () => {
    const state = { projectBytes: 200_000, dataDir: await mkdtemp(join(tmpdir(), 'docmount-quota-')) }
    const open = async (): Promise<void> => {
      service = await startTestService({
        limits: { projectBytes: state.projectBytes },
        dataDir: state.dataDir,
      })
    }
    await open()
    const full = { status: 507, message: 'the project has no room for these bytes: delete something first' }
    const made = (name: string, note = ''): Promise<Response> =>
      post('', JSON.stringify({ name, settings: { type: 'reconcile', note } }))
    const { id } = (await (await made('one')).json()) as { id: string }
    const forward = (bytes: number): Promise<Response> =>
      post(`/${id}/forward`, JSON.stringify({ type: 'data', data: [{ row_data: { a: 'x'.repeat(bytes) } }] }))
    expect((await forward(100_000)).status).toBe(201)
    expect(await errorOf(await forward(100_000))).toEqual(full)
    expect(await errorOf(await made('two', 'x'.repeat(100_000)))).toEqual(full)
    const small = Array.from({ length: 3_000 }, () => ({ row_data: {} }))
    expect(
      await errorOf(await post(`/${id}/forward`, JSON.stringify({ type: 'data', data: small }))),
    ).toEqual(full)
    const task = JSON.stringify({ data: { a: 'y'.repeat(60_000) } })
    expect((await post(`/${id}/tasks`, task)).status).toBe(201)
    for (const run of ['tasks', 'reconcile'])
      expect(await errorOf(await post(`/${id}/${run}`, task))).toEqual(full)
    expect(await errorOf(await service.put('/a.txt', Buffer.alloc(60_000)))).toEqual(full)
    expect((await service.put('/a.txt', Buffer.alloc(30_000))).status).toBe(201)
    await service.close()
    await open()
    expect(await errorOf(await service.put('/b.txt', Buffer.alloc(30_000)))).toEqual(full)
    await service.delete('/a.txt')
    expect((await service.put('/b.txt', Buffer.alloc(30_000))).status).toBe(201)
    await rm(state.dataDir, { recursive: true })
  })

  test('takes no more documents than it may hold, however many come at once', async () => {
    await start({ projectDocuments: 10 })
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => service.put(`/${at}.txt`, 'x')))
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([
      ...Array<number>(10).fill(201),
      ...Array<number>(20).fill(507),
    ])
    expect(await errorOf(await service.put('/more.txt', 'x'))).toEqual({
      status: 507,
      message: 'the project has its 10 documents: delete one first',
    })
    expect(((await (await service.get('/')).json()) as { entries: [] }).entries).toHaveLength(10)
  })

  test('of another key has room of its own', async () => {
    service = await startTestService({ limits: { projectDocuments: 1 }, projects: ['acme', 'other'] })
    expect((await service.put('/a.txt', 'x')).status).toBe(201)
    const init = {
      body: JSON.stringify(documentOf('x')),
      headers: { ...json, 'x-api-key': service.service.projects[1]!.apiKey! },
    }
    expect((await service.call('PUT', '/projects/other/files?path=/a.txt', init)).status).toBe(201)
  })
})

describe('requests', () => {
  test('of one key beyond the limit are 429 with Retry-After; another key is served', async () => {
    await start({ requestsPerSecondPerKey: 1 })
    const other = await service.service.createKey('acme')
    const statuses: number[] = []
    for (let count = 0; count < 12; count++) statuses.push((await service.call('GET', '/projects')).status)
    expect(statuses).toContain(429)
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200))
    const refused = await service.call('GET', '/projects')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await errorOf(refused)).toEqual({
      status: 429,
      message: 'too many requests with this key: come back in 1 s',
    })
    expect((await service.call('GET', '/projects', { headers: { 'x-api-key': other } })).status).toBe(200)
  })

  test('of one address beyond the limit are 429; another address is served, and this machine is', async () => {
    await start({ requestsPerSecondPerAddress: 1 })
    const from = async (address: string): Promise<number> =>
      (await fetch(`${service.service.baseUrl}/projects`, { headers: { 'x-forwarded-for': address } })).status
    const statuses: number[] = []
    for (let count = 0; count < 12; count++) statuses.push(await from(`2001:db8::${count}`))
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401))
    expect(statuses.at(-1)).toBe(429)
    expect(await from('203.0.113.9')).toBe(401)
    // With the port, which is another for each connection, it is the same address.
    const withPorts: number[] = []
    for (let port = 1; port <= 12; port++) withPorts.push(await from(`203.0.113.7:${port}`))
    expect(withPorts.at(-1)).toBe(429)
    for (let port = 1; port <= 12; port++) withPorts.push(await from(`[2001:db8:5::${port}]:${port}`))
    expect(withPorts.at(-1)).toBe(429)
    for (let count = 0; count < 20; count++) expect((await service.call('GET', '/projects')).status).toBe(200)
  })

  test('of one key at a time are limited too', async () => {
    await start({ requestsUnderWayPerKey: 1 })
    const socket = connect(service.service.port, '127.0.0.1')
    socket.write(
      `PUT /api${files('/held.txt')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
    )
    await expect.poll(async () => (await service.call('GET', '/projects')).status).toBe(429)
    socket.destroy()
    await expect.poll(async () => (await service.call('GET', '/projects')).status).toBe(200)
  })

  test('of one key hold so much JSON at a time', async () => {
    await start({ jsonBytesUnderWayPerKey: 10_000 })
    const post = (bytes: number): Promise<Response> =>
      service.call('POST', '/projects/acme/tables', {
        body: JSON.stringify({ name: randomUUID(), settings: { note: 'x'.repeat(bytes) } }),
        headers: { 'content-type': 'application/json' },
      })
    const socket = connect(service.service.port, '127.0.0.1')
    socket.write(
      `POST /api/projects/acme/tables HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 9000\r\nExpect: 100-continue\r\n\r\n',
    )
    // It is asked for its body, so it has its room.
    await once(socket, 'data')
    expect((await post(2_000)).status).toBe(429)
    expect((await post(100)).status).toBe(201)
    expect((await service.put('/a.txt', Buffer.alloc(20_000))).status).toBe(201)
    socket.destroy()
    await expect.poll(async () => (await post(2_000)).status).toBe(201)
    // Alone one may have all there may be of one.
    expect((await post(20_000)).status).toBe(201)
  })

  test('are counted as buckets that fill again, for the names used lately', () => {
    let now = 0
    const buckets = new TokenBuckets(2, () => now)
    for (let count = 0; count < 20; count++) expect(buckets.take('a')).toBe(0)
    expect(buckets.take('a')).toBe(1)
    now += 500
    expect([buckets.take('a'), buckets.take('a'), buckets.take('b')]).toEqual([0, 1, 0])
    for (let count = 0; count < 10_000; count++) buckets.take(`name ${count}`)
    // Forgotten, so full.
    expect(buckets.take('a')).toBe(0)
  })

  test('are told to other nodes, and what others let through counts; what cannot be told is told later', async () => {
    let now = 0
    const buckets = new TokenBuckets(10, () => now)
    for (let count = 0; count < 30; count++) expect(buckets.take('a')).toBe(0)
    const away = buckets.share(() => Promise.reject(new Error('away')))
    await expect(away).rejects.toThrow('away')
    const told: (readonly [string, number])[][] = []
    // Others have taken all there is, and ten seconds more.
    await buckets.share(async (taken) => {
      told.push([...taken])
      // Meanwhile one more is let through.
      expect(buckets.take('a')).toBe(0)
      return new Map([['a', 20_000]])
    })
    expect(told).toEqual([[['a', 3_000]]])
    expect(buckets.take('a')).toBe(11)
    now += 10_200
    expect(buckets.take('a')).toBe(0)
    await buckets.share(async (taken) => {
      told.push([...taken])
      return new Map()
    })
    expect(told[1]).toEqual([['a', 200]])
    await buckets.share(() => Promise.reject(new Error('there is nothing to tell')))
  })

  test('so few that they make no difference are not told yet', async () => {
    const buckets = new TokenBuckets(1_000, () => 0)
    for (let count = 0; count < 9; count++) buckets.take('a')
    await buckets.share(() => Promise.reject(new Error('told')))
    buckets.take('a')
    await expect(buckets.share(() => Promise.reject(new Error('told')))).rejects.toThrow('told')
  })
})

describe('connections', () => {
  const ownAddress = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address

  /** Asks for something on a connection that stays open; all that came once it ended, or once there was an answer. */
  async function askOn(host: string): Promise<{ socket: Socket; answer: string }> {
    const socket = connect(service.service.port, host)
    socket.on('error', () => {})
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.write(`GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n`)
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return { socket, answer }
  }

  test('beyond those there may be are not accepted, until one ends', async () => {
    await start({ connections: 2 })
    const [first, second] = [await askOn('127.0.0.1'), await askOn('127.0.0.1')]
    for (const { answer } of [first, second]) expect(answer).toMatch(/^HTTP\/1\.1 200/)
    expect((await askOn('127.0.0.1')).answer).toBe('')
    first.socket.destroy()
    const again = async (): Promise<string> => (await askOn('127.0.0.1')).answer
    await expect.poll(again).toMatch(/^HTTP\/1\.1 200/)
    second.socket.destroy()
  })

  test.skipIf(ownAddress === undefined)(
    'beyond those of one address are 429 with Retry-After, and this machine is served',
    async () => {
      service = await startTestService({ limits: { connectionsPerAddress: 1 }, host: '0.0.0.0' })
      const held = await askOn(ownAddress ?? '')
      expect(held.answer).toMatch(/^HTTP\/1\.1 200/)
      const { answer } = await askOn(ownAddress ?? '')
      expect(answer).toMatch(/^HTTP\/1\.1 429 .*\r\n(?:.*\r\n)*Retry-After: 10\r\n/)
      expect(answer).toContain('too many connections from this address')
      for (let count = 0; count < 3; count++)
        expect((await askOn('127.0.0.1')).answer).toMatch(/^HTTP\/1\.1 200/)
      held.socket.destroy()
      await expect.poll(async () => (await askOn(ownAddress ?? '')).answer).toMatch(/^HTTP\/1\.1 200/)
    },
  )
})

test('no default is met by a drive that sends hundreds of requests a second', async () => {
  await start()
  expect(defaultLimits.requestsPerSecondPerKey).toBeGreaterThan(1000)
  const answers = await Promise.all(Array.from({ length: 800 }, () => service.get('/')))
  expect(answers.filter((answer) => answer.status !== 200)).toEqual([])
})
