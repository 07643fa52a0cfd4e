import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { NetworkError } from '../../src/api/errors.ts'
import type { RequestRecord } from '../../src/api/types.ts'
import { startRawServer } from '../support/raw-server.ts'
import { clientOf, collect, rejection, testKey } from './client-support.ts'

const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251))

function answerRange(request: IncomingMessage, response: ServerResponse): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
  const start = Number(first)
  if (start >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end('beyond the end')
    return
  }
  const part = bytes.subarray(start, Number(last) + 1)
  const contentRange = `bytes ${start}-${start + part.length - 1}/${bytes.length}`
  response.writeHead(206, { 'content-range': contentRange, 'content-length': part.length, etag: '"v1"' })
  response.end(part)
}

/** All of it, whatever range was asked for, in small pieces. */
function answerWhole(
  response: ServerResponse,
  body: Uint8Array = bytes,
  headers: OutgoingHttpHeaders = {},
): void {
  response.writeHead(200, headers)
  for (let start = 0; start < body.length; start += 7) response.write(body.subarray(start, start + 7))
  response.end()
}

describe('a download', () => {
  test('gives the range, the size of the file and its ETag', async () => {
    await using server = await startRawServer(answerRange)
    await using client = clientOf(server)
    const files = client.files('acme')
    const download = await files.download(`${server.origin}/b?sig=1`, '/a', { offset: 10, length: 20 })
    expect(download).toMatchObject({ totalSize: 1000, etag: '"v1"' })
    expect(await collect(download.chunks)).toEqual(bytes.subarray(10, 30))
    expect(server.requests[0]?.url).toBe('/b?sig=1')
  })

  test('clips a range at the end of the file, and gives nothing beyond it', async () => {
    await using server = await startRawServer(answerRange)
    await using client = clientOf(server)
    const files = client.files('acme')
    const last = await files.download(`${server.origin}/b`, '/a', { offset: 990, length: 100 })
    expect(await collect(last.chunks)).toEqual(bytes.subarray(990))
    const beyond = await files.download(`${server.origin}/b`, '/a', { offset: 1000, length: 100 })
    expect(beyond.totalSize).toBe(1000)
    expect(await collect(beyond.chunks)).toHaveLength(0)
    const empty = await files.download(`${server.origin}/b`, '/a', { offset: 5, length: 0 })
    expect(await collect(empty.chunks)).toHaveLength(0)
    expect(server.requests).toHaveLength(2)
  })

  describe.each([
    ['shorter', bytes.subarray(0, 18), 0, 1000],
    ['cut off at the range', bytes.subarray(0, 500), 0, 500],
    ['longer, at the end', Buffer.concat([bytes, bytes]), 900, 100],
    ['longer, in the middle', Buffer.concat([bytes, bytes]), 0, 100],
  ])(
    'of a document whose size is known, answered with a body that does not tell its own: %s',
    (_, body, offset, length) => {
      test('never ends well', async () => {
        await using server = await startRawServer((__, response) => answerWhole(response, body))
        await using client = clientOf(server)
        const range = { offset, length, sizeBytes: bytes.length }
        const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
        const error = (await rejection(collect(download.chunks))) as Error
        expect(error).toMatchObject({ name: 'NetworkError', kind: 'protocol' })
        expect(error.message).toMatch(/the answer has (more than )?\d+ bytes, the document 1000/)
      })
    },
  )

  test.each([
    ['the whole', 0, 1000],
    ['the middle', 300, 100],
    ['the end', 900, 100],
  ])('of a document whose size is known takes %s from a body of that size', async (_, offset, length) => {
    await using server = await startRawServer((__, response) => answerWhole(response))
    await using client = clientOf(server)
    const range = { offset, length, sizeBytes: bytes.length }
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    expect(await collect(download.chunks)).toEqual(bytes.subarray(offset, offset + length))
  })

  test('of a document whose size is known believes no body of another size, however long that is', async () => {
    const other = Buffer.alloc(3 * 1024 * 1024, 'another version')
    await using server = await startRawServer((__, response) => {
      response.writeHead(200)
      response.end(other)
    })
    await using client = clientOf(server)
    const range = { offset: 0, length: 100, sizeBytes: 2 * other.length }
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    expect(await rejection(collect(download.chunks))).toMatchObject({ kind: 'protocol' })
  })

  test.each([
    ['tells it', { 'content-length': bytes.length }],
    ['does not', {}],
  ])(
    'of a document whose size is known asks for all of it where a piece does not tell the size of the whole, which then %s',
    async (_, headers) => {
      await using server = await startRawServer((request, response) => {
        if (request.headers.range === undefined) return answerWhole(response, bytes, headers)
        response.writeHead(206, { 'content-range': 'bytes 10-29/*', 'content-length': 20 })
        response.end(bytes.subarray(10, 30))
      })
      await using client = clientOf(server)
      const range = { offset: 10, length: 20, sizeBytes: bytes.length }
      const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
      expect(await collect(download.chunks)).toEqual(bytes.subarray(10, 30))
      expect(server.requests.map(({ headers }) => headers.range)).toEqual(['bytes=10-29', undefined])
    },
  )

  test('reuses its connection after each range', async () => {
    await using server = await startRawServer(answerRange)
    await using client = clientOf(server)
    for (const offset of [0, 500, 990, 2000, 3000]) {
      const range = { offset, length: 100 }
      const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
      await collect(download.chunks)
    }
    expect(server.connectionCount).toBeLessThanOrEqual(2)
  })

  test('never carries the key, not even to the service itself', async () => {
    await using server = await startRawServer(answerRange)
    await using client = clientOf(server)
    const range = { offset: 0, length: 1 }
    await collect((await client.files('acme').download(`${server.origin}/api/b`, '/a', range)).chunks)
    expect(JSON.stringify(server.requests)).not.toContain(testKey)
    expect(server.requests[0]?.headers).not.toHaveProperty('x-api-key')
  })

  test.each([
    ['from the start', 0, 100],
    ['from the middle', 300, 100],
    ['to the end', 900, 100],
    ['across the end', 950, 100],
    ['beyond the end', 1000, 100],
  ])('cuts the range %s out of a whole file', async (_, offset, length) => {
    await using server = await startRawServer((__, response) =>
      answerWhole(response, bytes, { 'content-length': bytes.length }),
    )
    await using client = clientOf(server)
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', { offset, length })
    expect(download.totalSize).toBe(1000)
    expect(await collect(download.chunks)).toEqual(bytes.subarray(offset, offset + length))
  })

  test('of a whole file of unknown length ends where the file ends', async () => {
    await using server = await startRawServer((_, response) => {
      response.write(bytes.subarray(0, 500))
      response.end(bytes.subarray(500))
    })
    await using client = clientOf(server)
    const range = { offset: 900, length: 500 }
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    expect(download.totalSize).toBeUndefined()
    expect(await collect(download.chunks)).toEqual(bytes.subarray(900))
  })

  test('that breaks off is "cut"', async () => {
    await using server = await startRawServer((request, response) => {
      const headers = { 'content-range': 'bytes 0-999/1000', 'content-length': 1000 }
      response.writeHead(206, headers).write(bytes.subarray(0, 400), () => request.socket.destroy())
    })
    await using client = clientOf(server)
    const range = { offset: 0, length: 1000 }
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    const error = await rejection(collect(download.chunks))
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ kind: 'cut' })
  })

  test('that gives fewer bytes than its Content-Range promised is "cut"', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-999/1000' }).end(bytes.subarray(0, 400))
    })
    await using client = clientOf(server)
    const range = { offset: 0, length: 1000 }
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    expect(await rejection(collect(download.chunks))).toMatchObject({
      kind: 'cut',
      message: 'GET /a: the connection broke 600 bytes before the end of the range',
    })
  })

  test('that gives more bytes than it promised is cut at the promise', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-9/1000' }).end(bytes)
    })
    await using client = clientOf(server)
    const range = { offset: 0, length: 10 }
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    expect(await collect(download.chunks)).toEqual(bytes.subarray(0, 10))
  })

  test.each([
    ['another offset', { 'content-range': 'bytes 5-14/1000' }],
    ['another length', { 'content-range': 'bytes 0-4/1000' }],
    ['no Content-Range', {}],
    ['several ranges', { 'content-type': 'multipart/byteranges; boundary=x' }],
    ['a body in a coding nobody knows', { 'content-range': 'bytes 0-9/1000', 'content-encoding': 'other' }],
  ])('answered with %s is refused', async (_, headers) => {
    await using server = await startRawServer((__, response) => {
      response.writeHead(206, { ...headers }).end(bytes.subarray(0, 10))
    })
    await using client = clientOf(server)
    const download = client.files('acme').download(`${server.origin}/b`, '/a', { offset: 0, length: 10 })
    expect(await rejection(download)).toMatchObject({ kind: 'protocol' })
  })

  test.each([
    ['a compressed piece', 'gzip', 206, (range: Buffer) => gzipSync(range)],
    ['a piece of the compressed whole', 'gzip', 206, () => gzipSync(bytes).subarray(300, 400)],
    ['the compressed whole', 'gzip', 200, () => gzipSync(bytes)],
    ['the compressed whole', 'br', 200, () => brotliCompressSync(bytes)],
    ['the compressed whole', 'deflate', 200, () => deflateSync(bytes)],
  ] as const)('answered with %s (%s, %i) gives the range all the same', async (_, coding, status, bodyOf) => {
    await using server = await startRawServer((request, response) => {
      const isWhole = request.headers.range === undefined || status === 200
      const body = isWhole
        ? { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }[coding](bytes)
        : bodyOf(bytes.subarray(300, 400))
      const range = isWhole ? {} : { 'content-range': `bytes 300-399/${bytes.length}` }
      const headers = {
        ...range,
        'content-encoding': coding,
        'content-length': body.length,
        etag: '"packed"',
      }
      response.writeHead(isWhole ? 200 : 206, headers).end(body)
    })
    await using client = clientOf(server)
    const download = await client
      .files('acme')
      .download(`${server.origin}/b`, '/a', { offset: 300, length: 100 })
    expect(download).toMatchObject({ totalSize: undefined, etag: undefined })
    expect(await collect(download.chunks)).toEqual(bytes.subarray(300, 400))
  })

  test('answered with a compressed whole that is cut off is a broken connection', async () => {
    await using server = await startRawServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes).subarray(0, 100))
    })
    await using client = clientOf(server)
    const download = await client
      .files('acme')
      .download(`${server.origin}/b`, '/a', { offset: 0, length: 1000 })
    expect(await rejection(collect(download.chunks))).toMatchObject({ kind: 'cut' })
  })

  test.each([403, 404, 410, 500])(
    'answered with %i is an ApiError, not repeated, without the URL',
    async (status) => {
      await using server = await startRawServer((request, response) => {
        response.writeHead(status).end(JSON.stringify({ errorMessage: `refused: ${request.url}` }))
      })
      const records: RequestRecord[] = []
      await using client = clientOf(server, { onRequest: (record) => records.push(record) })
      const url = `${server.origin}/b?X-Amz-Signature=secret`
      const error = await rejection(client.files('acme').download(url, '/a', { offset: 0, length: 10 }))
      expect(error).toMatchObject({ status, message: `GET /a: ${status} refused: …` })
      expect(records).toMatchObject([{ method: 'GET', path: '/a', status, attempt: 1 }])
      expect(JSON.stringify(records)).not.toContain('secret')
    },
  )

  test('of a URL that is none fails without quoting it', async () => {
    await using server = await startRawServer(answerRange)
    await using client = clientOf(server)
    for (const url of ['/b?sig=secret', 'file:///etc/passwd?secret']) {
      const error = await rejection(client.files('acme').download(url, '/a', { offset: 0, length: 1 }))
      expect(error).toMatchObject({ kind: 'protocol' })
      expect(String(error)).not.toContain('secret')
    }
  })

  test('that stalls ends at its deadline; a reader that takes its time does not', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-999/1000', 'content-length': 1000 })
      response.write(bytes.subarray(0, 400))
    })
    await using client = clientOf(server, { deadlineMs: 1_000 })
    const range = { offset: 0, length: 1000 }
    const { chunks } = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    const iterator = chunks[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toEqual(bytes.subarray(0, 400))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const pending = iterator.next()
    expect(await rejection(pending)).toMatchObject({ kind: 'deadline' })
  })

  test('that is aborted rejects with the reason', async () => {
    await using server = await startRawServer((_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-999/1000', 'content-length': 1000 })
      response.write(bytes.subarray(0, 400))
    })
    await using client = clientOf(server)
    const controller = new AbortController()
    const range = { offset: 0, length: 1000 }
    const options = { signal: controller.signal }
    const download = await client.files('acme').download(`${server.origin}/b`, '/a', range, options)
    const collected = rejection(collect(download.chunks))
    const reason = new Error('interrupted')
    controller.abort(reason)
    expect(await collected).toBe(reason)
  })

  test('that nobody reads is let go at its deadline', async () => {
    let isClosed = false
    await using server = await startRawServer((_, response) => {
      response.on('close', () => (isClosed = true))
      response.writeHead(206, { 'content-range': 'bytes 0-999/1000', 'content-length': 1000 })
      response.write(bytes.subarray(0, 400))
    })
    await using client = clientOf(server, { deadlineMs: 1_000 })
    await client.files('acme').download(`${server.origin}/b`, '/a', { offset: 0, length: 1000 })
    await expect.poll(() => isClosed).toBe(true)
  })

  test('closed before its first byte gives its connection back', async () => {
    let isClosed = false
    await using server = await startRawServer((_, response) => {
      response.on('close', () => (isClosed = true))
      response.writeHead(206, { 'content-range': 'bytes 0-999/1000', 'content-length': 1000 })
      response.write(bytes.subarray(0, 400))
    })
    await using client = clientOf(server)
    const range = { offset: 0, length: 1000 }
    const { chunks } = await client.files('acme').download(`${server.origin}/b`, '/a', range)
    await chunks[Symbol.asyncIterator]().return?.()
    await expect.poll(() => isClosed).toBe(true)
  })
})
