import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ApiError, ContentError, NetworkError, isOutcomeUnknown } from '../../src/api/errors.ts'
import { answerJson, startRawServer } from '../support/raw-server.ts'
import { clientOf, contentOf, rejection, uploadOf } from './client-support.ts'

const stored = { ftype: 'file', name: 'a.txt', size: 3 }

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

describe('an upload', () => {
  test('sends the Document with its Content-Length known in advance', async () => {
    let body = ''
    await using server = await startRawServer((request, response) => {
      void bodyOf(request).then((text) => {
        body = text
        answerJson(response, 201, stored)
      })
    })
    await using client = clientOf(server)
    const bytes = Buffer.from('ümläut \u{1f600} and "quotes"')
    // Pieces of 1, 2, 3, … bytes: every remainder by 3 comes up.
    const pieces: Buffer[] = []
    for (let start = 0, length = 1; start < bytes.length; start += length++) {
      pieces.push(bytes.subarray(start, start + length))
    }
    const file = await client.files('acme').upload('a.txt', uploadOf(contentOf(pieces)))

    expect(JSON.parse(body)).toEqual({
      mimetype: 'text/plain',
      filename: 'a.txt',
      file_type: 'binary',
      file: bytes.toString('base64'),
    })
    expect(server.requests[0]?.headers['content-length']).toBe(String(Buffer.byteLength(body)))
    expect(server.requests[0]?.headers['transfer-encoding']).toBeUndefined()
    expect(server.requests[0]?.url).toBe('/api/projects/acme/files?path=%2Fa.txt')
    expect(file).toEqual({
      kind: 'file',
      name: 'a.txt',
      size: 3,
      mimetype: undefined,
      modifiedAt: undefined,
      url: undefined,
    })
  })

  test('of nothing sends an empty payload', async () => {
    let body = ''
    await using server = await startRawServer((request, response) => {
      void bodyOf(request).then((text) => {
        body = text
        answerJson(response, 201, stored)
      })
    })
    await using client = clientOf(server)
    await client.files('acme').upload('/a.txt', uploadOf(contentOf([])))
    expect(JSON.parse(body)).toMatchObject({ file_type: 'binary', file: '' })
  })

  test('by uri and by parts sends them as they are', async () => {
    const bodies: unknown[] = []
    await using server = await startRawServer((request, response) => {
      void bodyOf(request).then((text) => {
        bodies.push(JSON.parse(text))
        answerJson(response, 201, stored)
      })
    })
    await using client = clientOf(server)
    const files = client.files('acme')
    await files.upload('/a.txt', uploadOf({ kind: 'uri', url: 'https://x.example/y?s=1' }))
    const parts = [
      { text: 'ä', file: { mimetype: 'text/plain', file_type: 'binary', content: 'eA==' } },
    ] as const
    await files.upload('/a.txt', uploadOf({ kind: 'multipart', parts }))
    expect(bodies).toMatchObject([
      { file_type: 'uri', file: 'https://x.example/y?s=1' },
      { file_type: 'multipart', file: parts },
    ])
  })

  test('that is refused before its body was read ends at once, and the client goes on', async () => {
    await using server = await startRawServer((_, response, count) => {
      if (count === 1) answerJson(response, 409, { errorMessage: 'file exists' })
      else answerJson(response, 200, stored)
    })
    await using client = clientOf(server)
    const piece = Buffer.alloc(64 * 1024)
    const content = contentOf(Array.from({ length: 3200 }, () => piece))
    const error = await rejection(client.files('acme').upload('/reports/a.pdf', uploadOf(content)))

    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 409, message: 'PUT /reports/a.pdf: 409 file exists' })
    expect(content.watch.given).toBeLessThan(content.size / 2)
    await expect.poll(() => content.watch.ended).toBe(1)
    expect(await client.files('acme').get('/a.txt')).toMatchObject({ name: 'a.txt' })
  })

  test.each([
    [
      'shorter',
      [90_000],
      100_001,
      'PUT /a.txt: the content ended after 90000 of 100001 bytes; nothing was stored',
    ],
    [
      'longer',
      [90_000, 30_000],
      100_001,
      'PUT /a.txt: the content is longer than its 100001 bytes; nothing was stored',
    ],
    [
      'longer by a byte that fills the last group',
      [90_000, 10_002],
      100_001,
      'PUT /a.txt: the content is longer than its 100001 bytes; nothing was stored',
    ],
  ])('whose content is %s than its size fails, and its body never ends', async (_, sizes, size, message) => {
    let isComplete: boolean | undefined
    await using server = await startRawServer((request) => {
      request.on('error', () => {})
      request.resume().on('close', () => {
        isComplete = request.complete
      })
    })
    await using client = clientOf(server)
    const content = contentOf(
      sizes.map((length) => Buffer.alloc(length)),
      size,
    )
    const error = await rejection(client.files('acme').upload('/a.txt', uploadOf(content)))
    expect(error).toBeInstanceOf(ContentError)
    expect(error).toMatchObject({ message })
    expect(isOutcomeUnknown(error)).toBe(false)
    await expect.poll(() => isComplete).toBe(false)
    expect(server.requests).toHaveLength(1)
  })

  test('of a small document goes out whole or not at all', async () => {
    await using server = await startRawServer((_, response) => answerJson(response, 201, stored))
    await using client = clientOf(server)
    const upload = (sizes: number[]): Promise<unknown> =>
      client.files('acme').upload(
        '/a.txt',
        uploadOf(
          contentOf(
            sizes.map((length) => Buffer.alloc(length)),
            5,
          ),
        ),
      )
    expect(await rejection(upload([4]))).toBeInstanceOf(ContentError)
    expect(await rejection(upload([4, 3]))).toBeInstanceOf(ContentError)
    expect(server.requests).toHaveLength(0)
    await upload([3, 2])
    expect(server.requests).toHaveLength(1)
  })

  test('whose content cannot be read rejects with the reason', async () => {
    await using server = await startRawServer((request) => request.on('error', () => {}).resume())
    await using client = clientOf(server)
    const broken = new Error('the disk is gone')
    const content = {
      kind: 'bytes',
      size: 10,
      async *open() {
        yield Buffer.alloc(5)
        throw broken
      },
    } as const
    expect(await rejection(client.files('acme').upload('/a.txt', uploadOf(content)))).toBe(broken)
  })

  test('whose answer is lost is not sent again: the outcome is unknown', async () => {
    await using server = await startRawServer((request) => {
      request.resume().on('end', () => request.socket.destroy())
    })
    await using client = clientOf(server)
    const error = await rejection(
      client.files('acme').upload('/a.txt', uploadOf(contentOf([Buffer.from('abc')]))),
    )
    expect(error).toBeInstanceOf(NetworkError)
    expect(error).toMatchObject({ kind: 'cut' })
    expect(isOutcomeUnknown(error)).toBe(true)
    expect(server.requests).toHaveLength(1)
  })

  test.each([500, 503, 408])('answered with %i is not sent again', async (status) => {
    await using server = await startRawServer((request, response) => {
      request.resume().on('end', () => answerJson(response, status, { errorMessage: 'no' }))
    })
    await using client = clientOf(server)
    const error = await rejection(
      client.files('acme').upload('/a.txt', uploadOf(contentOf([Buffer.from('abc')]))),
    )
    expect(error).toMatchObject({ status, errorMessage: 'no' })
    expect(server.requests).toHaveLength(1)
  })

  test('answered with 429 is sent again after what the service asked for', async () => {
    await using server = await startRawServer((request, response, count) => {
      request.resume().on('end', () => {
        if (count === 1) response.writeHead(429, { 'retry-after': '0' }).end()
        else answerJson(response, 201, stored)
      })
    })
    await using client = clientOf(server)
    const content = contentOf([Buffer.from('abc')])
    await client.files('acme').upload('/a.txt', uploadOf(content))
    expect(server.requests).toHaveLength(2)
    expect(content.watch.opened).toBe(2)
  })

  test('to nobody is tried again, and says that there was no connection', async () => {
    const server = await startRawServer(() => {})
    await server[Symbol.asyncDispose]()
    const attempts: number[] = []
    await using client = clientOf(server, { onRequest: (record) => attempts.push(record.attempt) })
    const content = contentOf([Buffer.from('abc')])
    const error = await rejection(client.files('acme').upload('/a.txt', uploadOf(content), { attempts: 2 }))
    expect(error).toMatchObject({ kind: 'unreachable' })
    expect(String(error)).toMatch(/PUT \/a\.txt: no connection: connect ECONNREFUSED/)
    expect(isOutcomeUnknown(error)).toBe(false)
    expect(attempts).toEqual([1, 2])
    expect(content.watch.opened).toBe(0)
  })

  test('is aborted by its signal, and rejects with the reason', async () => {
    await using server = await startRawServer((request) => request.on('error', () => {}).resume())
    await using client = clientOf(server)
    const controller = new AbortController()
    const reason = new Error('interrupted')
    const pending = once(controller.signal, 'abort')
    const content = {
      kind: 'bytes',
      size: 10,
      async *open(signal: AbortSignal) {
        yield Buffer.alloc(5)
        controller.abort(reason)
        // The source waits for more, as a slow disk would: the signal it was given lets it go.
        await once(signal, 'abort')
      },
    } as const
    const upload = client.files('acme').upload('/a.txt', uploadOf(content), { signal: controller.signal })
    expect(await rejection(upload)).toBe(reason)
    await pending
  })

  test('without progress for its deadline ends; with progress it may last longer', async () => {
    await using server = await startRawServer((request) => request.on('error', () => {}).resume())
    await using client = clientOf(server)
    let given = 0
    const content = {
      kind: 'bytes',
      size: 15 * 300,
      async *open() {
        for (; given < 15; given++) {
          await new Promise((resolve) => setTimeout(resolve, 100))
          yield Buffer.alloc(300)
        }
      },
    } as const
    const error = await rejection(
      client.files('acme').upload('/a.txt', uploadOf(content), { deadlineMs: 1_000 }),
    )
    expect(error).toMatchObject({ kind: 'deadline', message: 'PUT /a.txt: no answer within 1 s' })
    // It ended waiting for the answer, not while bytes still moved.
    expect(given).toBe(15)
  })
})
