import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { ApiError, InputError, NetworkError } from '../../src/api/errors.ts'
import type { RequestRecord } from '../../src/api/types.ts'
import { answerJson, startRawServer } from '../support/raw-server.ts'
import { clientOf, rejection, testKey } from './client-support.ts'

const file = { ftype: 'file', name: 'a.txt' }

describe('a call', () => {
  test('is repeated after a temporary failure, and each attempt is reported', async () => {
    await using server = await startRawServer((request, response, count) => {
      if (count === 1) response.writeHead(503).end()
      else if (count === 2) request.socket.destroy()
      else answerJson(response, 200, file)
    })
    const records: RequestRecord[] = []
    await using client = clientOf(server, { onRequest: (record) => records.push(record) })
    await client.files('acme').get('/a.txt')
    expect(records).toMatchObject([
      { method: 'GET', path: '/a.txt', status: 503, attempt: 1 },
      { method: 'GET', path: '/a.txt', status: undefined, attempt: 2 },
      { kind: 'api', method: 'GET', path: '/a.txt', status: 200, attempt: 3 },
    ])
  })

  test('is made once when its options say so', async () => {
    await using server = await startRawServer((_, response) => response.writeHead(500).end())
    await using client = clientOf(server)
    await rejection(client.files('acme').get('/a.txt', { attempts: 1 }))
    expect(server.requests).toHaveLength(1)
  })

  test.each([400, 401, 403, 404, 409, 501])('answered with %i is not repeated', async (status) => {
    await using server = await startRawServer((_, response) => response.writeHead(status).end())
    await using client = clientOf(server)
    expect(await rejection(client.files('acme').get('/a.txt'))).toMatchObject({ status })
    expect(server.requests).toHaveLength(1)
  })

  test('waits as long as Retry-After asks', async () => {
    const times: number[] = []
    await using server = await startRawServer((_, response, count) => {
      times.push(performance.now())
      if (count === 1) response.writeHead(429, { 'retry-after': '1' }).end()
      else answerJson(response, 200, file)
    })
    await using client = clientOf(server)
    await client.files('acme').get('/a.txt')
    expect(times[1]! - times[0]!).toBeGreaterThan(950)
  })

  test('does not begin a wait that its deadline forbids', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(429, { 'retry-after': '60' }).end(JSON.stringify({ errorMessage: 'slow down' }))
    })
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').get('/a.txt', { deadlineMs: 20_000 }))
    expect(error).toMatchObject({ status: 429, errorMessage: 'slow down', retryAfterMs: 60_000 })
    expect(server.requests).toHaveLength(1)
  })

  test('looks for a service that is away, however long that said it would be', async () => {
    await using server = await startRawServer((_, response, count) => {
      if (count === 1) response.writeHead(503, { 'retry-after': '3600' }).end()
      else answerJson(response, 200, file)
    })
    await using client = clientOf(server)
    const found = await client.files('acme').get('/a.txt', { deadlineMs: 20_000 })
    expect(found).toMatchObject({ name: 'a.txt' })
  })

  test('takes JSON behind a byte order mark, of an answer and of an error', async () => {
    await using server = await startRawServer((_, response, count) => {
      response.writeHead(count === 1 ? 200 : 404, { 'content-type': 'application/json' })
      response.end(`\uFEFF${JSON.stringify(count === 1 ? file : { errorMessage: 'no such file' })}`)
    })
    await using client = clientOf(server)
    expect(await client.files('acme').get('/a.txt')).toMatchObject({ name: 'a.txt' })
    const error = await rejection(client.files('acme').get('/b.txt'))
    expect(error).toMatchObject({ status: 404, errorMessage: 'no such file' })
  })

  test('whose answer flows is not given up where only silence counts', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const pieces = JSON.stringify(file).match(/.{1,3}/g) ?? []
      const timer = setInterval(() => {
        const piece = pieces.shift()
        if (piece !== undefined) return void response.write(piece)
        clearInterval(timer)
        response.end()
      }, 200)
    })
    await using client = clientOf(server)
    const ask = (isDeadlineForSilence: boolean): Promise<unknown> =>
      client.files('acme').get('/a.txt', { deadlineMs: 1_500, isDeadlineForSilence })
    expect(await rejection(ask(false))).toMatchObject({ kind: 'deadline' })
    expect(await ask(true)).toMatchObject({ name: 'a.txt' })
  })

  test('takes a 100 Continue that nobody asked for, in pieces and twice, for nothing', async () => {
    await using server = await startRawServer((request, response) => {
      for (const piece of ['HT', 'TP/1.1 100 Continue\r\nserver: x\r\n', '\r\nHTTP/1.1 100 Continue\r\n\r\n'])
        request.socket.write(piece)
      setTimeout(() => answerJson(response, 200, { ...file, name: 'HTTP/1.1 100 Continue' }), 50)
    })
    await using client = clientOf(server)
    const files = client.files('acme')
    for (let times = 0; times < 2; times++)
      expect(await files.get('/a.txt', { attempts: 1 })).toMatchObject({ name: 'HTTP/1.1 100 Continue' })
    const content = { kind: 'bytes', size: 1, open: async function* () { yield Buffer.from('a') } } as const // prettier-ignore
    await files.upload('/a.txt', { mimetype: 'text/plain', filename: 'a.txt', content }, { attempts: 1 })
  })

  test('ends at its deadline', async () => {
    await using server = await startRawServer(() => {})
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').get('/a.txt', { deadlineMs: 100 }))
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ kind: 'deadline', message: 'GET /a.txt: no answer within 0.1 s' })
  })

  test('without an end to its deadline does not end', async () => {
    await using server = await startRawServer((_, response) => answerJson(response, 200, file))
    await using client = clientOf(server)
    const found = await client.files('acme').get('/a.txt', { deadlineMs: Infinity })
    expect(found).toMatchObject({ name: 'a.txt' })
  })

  test('ends at its deadline also when the answer stalls in the middle', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"ftype":')
    })
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').get('/a.txt', { deadlineMs: 100 }))
    expect(error).toMatchObject({ kind: 'deadline' })
  })

  test('is aborted by its signal, also while it waits to repeat', async () => {
    const controller = new AbortController()
    const reason = new Error('interrupted')
    await using server = await startRawServer((_, response) => {
      response.writeHead(503, { 'retry-after': '20' }).end()
      setImmediate(() => controller.abort(reason))
    })
    await using client = clientOf(server)
    const call = client.files('acme').get('/a.txt', { signal: controller.signal })
    expect(await rejection(call)).toBe(reason)
  })

  test('with a signal that is aborted already asks nothing', async () => {
    await using server = await startRawServer((_, response) => answerJson(response, 200, file))
    await using client = clientOf(server)
    const reason = new Error('too late')
    expect(await rejection(client.files('acme').get('/a', { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    )
    expect(server.requests).toHaveLength(0)
  })

  test('may share its signal with many others', async () => {
    await using server = await startRawServer((_, response) => answerJson(response, 200, file))
    await using client = clientOf(server)
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 50 }, () => client.files('acme').get('/a', { signal })))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  test('whose answer breaks off is repeated', async () => {
    await using server = await startRawServer((request, response, count) => {
      if (count > 1) answerJson(response, 200, file)
      else {
        response.writeHead(200, { 'content-length': 100 }).write('{"ftype":')
        setImmediate(() => request.socket.destroy())
      }
    })
    await using client = clientOf(server)
    expect(await client.files('acme').get('/a.txt')).toMatchObject({ name: 'a.txt' })
  })

  test('never follows a redirect, and the key stays here', async () => {
    await using elsewhere = await startRawServer((_, response) => answerJson(response, 200, file))
    await using server = await startRawServer((_, response) => {
      response.writeHead(302, { location: `${elsewhere.origin}/api?token=secret` }).end()
    })
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').get('/a.txt'))
    expect(error).toMatchObject({ kind: 'protocol' })
    expect(String(error)).toContain(`302 redirect to ${elsewhere.origin}, which is not followed`)
    expect(String(error)).not.toContain('secret')
    expect(elsewhere.requests).toHaveLength(0)
  })

  test('refused by the service throws its words on one line, without the key', async () => {
    await using server = await startRawServer((_, response) => {
      answerJson(response, 403, { errorMessage: `no such key:\n\u001b[31m${testKey}` })
    })
    await using client = clientOf(server)
    const error = await rejection(client.projects())
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ message: 'GET /projects: 403 no such key: [31m…' })
  })

  test('refused with an endless body reads little of it', async () => {
    let sent = 0
    await using server = await startRawServer((_, response) => {
      response.writeHead(400)
      const more = (): void => {
        while (!response.destroyed && sent < 64 * 1024 * 1024) {
          sent += 65_536
          if (!response.write(Buffer.alloc(65_536, 0x20))) return void response.once('drain', more)
        }
      }
      more()
    })
    await using client = clientOf(server)
    expect(await rejection(client.projects())).toMatchObject({ status: 400, errorMessage: 'bad request' })
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  test.each([
    ['a page', '<html>', 'the answer is not JSON (200, no content type); is the base URL right?'],
    ['nothing', '', 'the answer is not what the interface says: a file or folder is not an object'],
    ['a list', '[]', 'the answer is not what the interface says: a file or folder is not an object'],
    [
      'no kind',
      '{"name":"a"}',
      'the answer is not what the interface says: ftype is neither "file" nor "folder"',
    ],
    [
      'a folder without entries',
      '{"ftype":"folder","name":"a"}',
      "the answer is not what the interface says: the folder's entries: not an array",
    ],
  ])('answered with %s fails as "protocol" at once', async (_, body, detail) => {
    await using server = await startRawServer((__, response) => response.end(body))
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').get('/a'))
    expect(error).toMatchObject({ kind: 'protocol', message: `GET /a: ${detail}` })
    expect(server.requests).toHaveLength(1)
  })

  test('accepts absent and null optional fields, and passes over unknown ones', async () => {
    await using server = await startRawServer((_, response) => {
      answerJson(response, 200, {
        ftype: 'folder',
        name: '/',
        owner: 'unknown',
        entries: [
          { ftype: 'file', name: 'a.txt', size: null, modified_at: null },
          { ftype: 'file', name: 'b.txt', size: 0, etag: 'unknown' },
          { ftype: 'folder', name: 'c', entries: 'unknown' },
        ],
      })
    })
    await using client = clientOf(server)
    const none = { mimetype: undefined, modifiedAt: undefined, url: undefined }
    expect(await client.files('acme').get('/')).toEqual({
      kind: 'folder',
      name: '/',
      entries: [
        { kind: 'file', name: 'a.txt', size: undefined, ...none },
        { kind: 'file', name: 'b.txt', size: 0, ...none },
        { kind: 'folder', name: 'c' },
      ],
      odd: { leftOut: 0, repaired: 0 },
    })
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['a list', []],
    ['a text', 'a.txt'],
    ['an entry without a kind', { name: 'b' }],
    ['an entry of an unknown kind', { ftype: 'link', name: 'b' }],
    ['an entry whose kind is no text', { ftype: 1, name: 'b' }],
    ['an entry without a name', { ftype: 'file' }],
    ['a name that is a number', { ftype: 'file', name: 5 }],
    ['a name that is empty', { ftype: 'file', name: '' }],
    ['the name "."', { ftype: 'folder', name: '.' }],
    ['the name ".."', { ftype: 'folder', name: '..' }],
    ['a name with a slash', { ftype: 'file', name: 'a/b' }],
    ['a name with NUL', { ftype: 'file', name: 'a\0b' }],
    ['a name that is no Unicode', { ftype: 'file', name: 'a\ud800b' }],
    ['a name for the second time', { ftype: 'file', name: 'good.txt', size: 9 }],
  ])('a listing with %s is without it, and counts it', async (_, entry) => {
    await using server = await startRawServer((__, response) => {
      answerJson(response, 200, {
        ftype: 'folder',
        name: 'f',
        entries: [{ ...file, name: 'good.txt' }, entry],
      })
    })
    await using client = clientOf(server)
    expect(await client.files('acme').get('/f')).toMatchObject({
      entries: [{ kind: 'file', name: 'good.txt', size: undefined }],
      odd: { leftOut: 1, repaired: 0 },
    })
  })

  test.each<[string, object]>([
    ['null', { size: null }],
    ['negative', { size: -1 }],
    ['a fraction', { size: 1.5 }],
    ['a text', { size: '12' }],
    ['larger than any file', { size: 1e300 }],
    ['larger than can be counted', { size: 2 ** 53 }],
    ['an object', { size: {} }],
  ])('a size that is %s is unknown', async (_, fields) => {
    await using server = await startRawServer((request, response) => {
      const isFolder = request.url?.endsWith('%2Ff') === true || request.url?.endsWith('/f') === true
      answerJson(
        response,
        200,
        isFolder ? { ftype: 'folder', name: 'f', entries: [{ ...file, ...fields }] } : { ...file, ...fields },
      )
    })
    await using client = clientOf(server)
    const repaired = fields === undefined || Object.values(fields)[0] === null ? 0 : 1
    expect(await client.files('acme').get('/f')).toMatchObject({
      entries: [{ name: 'a.txt', size: undefined }],
      odd: { leftOut: 0, repaired },
    })
    expect(await client.files('acme').get('/a.txt')).toMatchObject({ kind: 'file', size: undefined })
  })

  test.each([['url'], ['mimetype'], ['modified_at']])('a %s that is no text is absent', async (field) => {
    await using server = await startRawServer((_, response) => {
      answerJson(response, 200, { ftype: 'folder', name: 'f', entries: [{ ...file, size: 1, [field]: 5 }] })
    })
    await using client = clientOf(server)
    expect(await client.files('acme').get('/f')).toEqual({
      kind: 'folder',
      name: 'f',
      entries: [
        { kind: 'file', name: 'a.txt', size: 1, mimetype: undefined, modifiedAt: undefined, url: undefined },
      ],
      odd: { leftOut: 0, repaired: 1 },
    })
  })

  test('a listing cut in half by a proxy that closes in good order is asked for again', async () => {
    const whole = JSON.stringify({ ftype: 'folder', name: 'f', entries: [file] })
    await using server = await startRawServer((_, response, count) => {
      const text = count === 1 ? whole.slice(0, 30) : whole
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    })
    await using client = clientOf(server)
    expect(await client.files('acme').get('/f')).toMatchObject({ entries: [{ name: 'a.txt' }] })
    expect(server.requests).toHaveLength(2)
  })

  test('an answer without an end is given up', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"ftype":"folder","name":"f","entries":[{}')
      const more = (): void => {
        while (!response.destroyed && response.write(',{}'.repeat(20_000)));
      }
      response.on('drain', more)
      more()
    })
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').get('/f'))
    expect(error).toMatchObject({ kind: 'protocol', message: expect.stringMatching(/more than \d+ entries/) })
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('asks for no compression, and understands %s all the same', async (coding, encode) => {
    await using server = await startRawServer((_, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding })
        .end(encode(JSON.stringify(file)))
    })
    await using client = clientOf(server)
    expect(await client.files('acme').get('/a.txt')).toMatchObject({ name: 'a.txt' })
    expect(server.requests[0]?.headers['accept-encoding']).toBe('identity')
  })

  test('a compressed answer that is cut is asked for again, and one that is none is no answer', async () => {
    const packed = gzipSync(JSON.stringify({ ...file, mimetype: 'x'.repeat(1_000) }))
    await using server = await startRawServer((_, response, count) => {
      const head = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      response.writeHead(200, head).end(count === 1 ? packed.subarray(0, packed.length - 12) : packed)
    })
    await using client = clientOf(server)
    expect(await client.files('acme').get('/a.txt')).toMatchObject({ name: 'a.txt' })
    await using liar = await startRawServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('{}')
    })
    await using other = clientOf(liar)
    expect(await rejection(other.files('acme').get('/a.txt'))).toMatchObject({ kind: 'protocol' })
  })

  test('an error whose words are compressed is told with them', async () => {
    await using server = await startRawServer((_, response) => {
      response
        .writeHead(404, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync('{"errorMessage":"nothing here"}'))
    })
    await using client = clientOf(server)
    expect(await rejection(client.files('acme').get('/a.txt'))).toMatchObject({
      errorMessage: 'nothing here',
    })
  })

  test('lists a folder of 100,000 files with presigned URLs', async () => {
    const url = `https://files.example/${'x'.repeat(400)}`
    const entries = Array.from({ length: 100_000 }, (_, index) => ({
      ftype: 'file',
      name: `document ${index}.pdf`,
      size: index,
      mimetype: 'application/pdf',
      modified_at: '2026-01-02T03:04:05.678Z',
      url,
    }))
    await using server = await startRawServer((_, response) => {
      answerJson(response, 200, { ftype: 'folder', name: 'many', entries })
    })
    await using client = clientOf(server)
    const folder = await client.files('acme').get('/many')
    expect(folder).toMatchObject({ kind: 'folder' })
    expect(folder.kind === 'folder' && folder.entries.at(-1)?.name).toBe('document 99999.pdf')
  })
})

describe('a delete', () => {
  test('whose answer was lost and whose repetition finds nothing is done', async () => {
    await using server = await startRawServer((request, response, count) => {
      if (count === 1) request.socket.destroy()
      else answerJson(response, 404, { errorMessage: 'not found' })
    })
    await using client = clientOf(server)
    await client.files('acme').delete('/a.txt')
    expect(server.requests.map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
  })

  test('that finds nothing at first is a 404', async () => {
    await using server = await startRawServer((_, response) => {
      answerJson(response, 404, { errorMessage: 'not found' })
    })
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').delete('/a.txt'))
    expect(error).toMatchObject({ message: 'DELETE /a.txt: 404 not found' })
  })
})

describe('the key', () => {
  test('is read at first use, and again when it is refused', async () => {
    const keys = ['old\n', 'new\n']
    let reads = 0
    await using server = await startRawServer((request, response) => {
      if (request.headers['x-api-key'] === 'new') answerJson(response, 200, [])
      else answerJson(response, 401, { errorMessage: 'unauthorized' })
    })
    await using client = clientOf(server, { apiKey: { read: () => Promise.resolve(keys[reads++] ?? 'new') } })
    expect(reads).toBe(0)
    expect(await client.projects()).toEqual([])
    expect(await client.projects()).toEqual([])
    expect(reads).toBe(2)
    expect(server.requests).toHaveLength(3)
  })

  test('that is refused and unchanged is a 401', async () => {
    await using server = await startRawServer((_, response) => response.writeHead(401).end())
    await using client = clientOf(server, { apiKey: { read: () => Promise.resolve('same') } })
    const error = await rejection(client.projects())
    expect(error).toMatchObject({ message: 'GET /projects: 401 the API key was refused' })
    expect(server.requests).toHaveLength(1)
  })

  test('that cannot be a header is refused without showing it', async () => {
    await using server = await startRawServer((_, response) => answerJson(response, 200, []))
    await using client = clientOf(server, { apiKey: 'line one\nline two' })
    const error = await rejection(client.projects())
    expect(error).toBeInstanceOf(InputError)
    expect(String(error)).not.toContain('line one')
    expect(server.requests).toHaveLength(0)
  })
})

describe('a client', () => {
  test.each(['https://host.example/api/', 'https://host.example/api', 'http://[::1]:80'])(
    'takes %s as base URL',
    (baseUrl) => {
      expect(() => createClient({ baseUrl, apiKey: 'k' })).not.toThrow()
    },
  )

  test.each(['', 'host/api', 'ftp://host/api', 'https://user:word@host/api', 'https://host/api?x=1'])(
    'refuses %j as base URL',
    (baseUrl) => {
      expect(() => createClient({ baseUrl, apiKey: 'k' })).toThrow(/the base URL must/)
    },
  )

  test('uses its connections again', async () => {
    await using server = await startRawServer((_, response) => answerJson(response, 200, []))
    await using client = clientOf(server)
    for (let count = 0; count < 5; count++) await client.projects()
    expect(server.connectionCount).toBeLessThanOrEqual(2)
  })

  test('that is closed fails its calls under way', async () => {
    await using server = await startRawServer(() => void client.close())
    const client = clientOf(server)
    expect(await rejection(client.projects({ attempts: 1 }))).toMatchObject({ kind: 'cut' })
  })

  test('encodes names and paths, and refuses what no request may hold', async () => {
    await using server = await startRawServer((_, response) => answerJson(response, 200, file))
    await using client = clientOf(server)
    await client.files('a/b ü').get('x/ä&b=c?#%/y z/')
    expect(server.requests[0]?.url).toBe(
      '/api/projects/a%2Fb%20%C3%BC/files?path=%2Fx%2F%C3%A4%26b%3Dc%3F%23%25%2Fy%20z',
    )
    const files = client.files('acme')
    for (const path of ['/a/../b', '..', '/a\0b', '/\ud800']) {
      expect(await rejection(files.get(path))).toBeInstanceOf(InputError)
    }
    expect(() => client.files('..')).toThrow(InputError)
    expect(server.requests).toHaveLength(1)
  })
})
