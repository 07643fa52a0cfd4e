// A delete and an upload that go out together: one round trip, in order, and nothing is ever sent twice unseen.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { isOutcomeUnknown } from '../../src/api/errors.ts'
import type { RequestRecord, Upload } from '../../src/api/types.ts'
import { answerJson, startRawServer, type RawServer } from '../support/raw-server.ts'
import { clientOf, contentOf, rejection, uploadOf } from './client-support.ts'

const stored = { ftype: 'file', name: 'a.txt', size: 3 }
const content = (): ReturnType<typeof contentOf> => contentOf([Buffer.from('new')])

const asked = (server: RawServer): string[] => server.requests.map(({ method }) => method)

/** Answers nothing before both are here; then what `answer` says to each. */
function whenBoth(
  answer: (deletion: ServerResponse, upload: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse, count: number) => void {
  let deletion: ServerResponse | undefined
  return (request, response, count) => {
    if (request.method === 'DELETE') deletion = response
    else if (count === 2 && deletion !== undefined) answer(deletion, response)
    else answerJson(response, 201, stored)
  }
}

describe('replace', () => {
  test('sends both on one connection before either is answered', async () => {
    await using server = await startRawServer(
      whenBoth((deletion, upload) => {
        deletion.writeHead(204).end()
        answerJson(upload, 201, stored)
      }),
    )
    const records: RequestRecord[] = []
    await using client = clientOf(server, { onRequest: (record) => void records.push(record) })
    expect(await client.files('acme').replace('/a.txt', uploadOf(content()))).toMatchObject({ size: 3 })
    expect(asked(server)).toEqual(['DELETE', 'PUT'])
    expect(server.connectionCount).toBe(1)
    expect(server.requests[0]?.headers).not.toHaveProperty('content-length')
    expect(records.map(({ method, status }) => [method, status])).toEqual([
      ['DELETE', 204],
      ['PUT', 201],
    ])
  })

  test('shares its connection with what came before and comes after', async () => {
    await using server = await startRawServer((request, response) => {
      if (request.method === 'DELETE') response.writeHead(204).end()
      else answerJson(response, request.method === 'PUT' ? 201 : 200, stored)
    })
    await using client = clientOf(server)
    const files = client.files('acme')
    for (let count = 0; count < 3; count++) {
      await files.get('/a.txt')
      await files.replace('/a.txt', uploadOf(content()))
      await files.upload('/b.txt', uploadOf(content()))
    }
    expect(server.connectionCount).toBe(1)
  })

  test('asks nothing where the content is not what it was to be', async () => {
    await using server = await startRawServer((_request, response) => void response.destroy())
    await using client = clientOf(server)
    const short = uploadOf(contentOf([Buffer.from('new')], 4))
    await expect(client.files('acme').replace('/a.txt', short)).rejects.toThrow('ended after 3 of 4 bytes')
    expect(server.requests).toEqual([])
  })

  test('succeeds where the upload did, whatever became of the delete', async () => {
    await using server = await startRawServer(
      whenBoth((deletion, upload) => {
        answerJson(deletion, 500, { errorMessage: 'after all' })
        answerJson(upload, 201, stored)
      }),
    )
    await using client = clientOf(server)
    expect(await client.files('acme').replace('/a.txt', uploadOf(content()))).toMatchObject({ size: 3 })
  })

  test.each([403, 404, 500] as const)(
    'says which of the two was in the way: the delete was answered %i, the upload 409',
    async (status) => {
      await using server = await startRawServer(
        whenBoth((deletion, upload) => {
          answerJson(deletion, status, { errorMessage: 'no' })
          answerJson(upload, 409, { errorMessage: 'taken' })
        }),
      )
      await using client = clientOf(server)
      const error = await rejection(client.files('acme').replace('/a.txt', uploadOf(content())))
      // A document that is already gone is no failure.
      const expected = status === 404 ? { method: 'PUT', status: 409 } : { method: 'DELETE', status }
      expect(error).toMatchObject(expected)
      expect(asked(server)).toEqual(['DELETE', 'PUT'])
    },
  )

  test('repeats a refused upload alone', async () => {
    await using server = await startRawServer(
      whenBoth((deletion, upload) => {
        deletion.writeHead(204).end()
        upload.setHeader('retry-after', '0')
        answerJson(upload, 429, { errorMessage: 'slowly' })
      }),
    )
    await using client = clientOf(server)
    expect(await client.files('acme').replace('/a.txt', uploadOf(content()))).toMatchObject({ size: 3 })
    expect(asked(server)).toEqual(['DELETE', 'PUT', 'PUT'])
  })

  test('sends neither again when the connection breaks', async () => {
    await using server = await startRawServer(whenBoth((deletion) => void deletion.destroy()))
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').replace('/a.txt', uploadOf(content())))
    expect(error).toMatchObject({ name: 'NetworkError', kind: 'cut' })
    expect(isOutcomeUnknown(error)).toBe(true)
    // The client is as good as before.
    await client.files('acme').upload('/a.txt', uploadOf(content()))
    expect(asked(server)).toEqual(['DELETE', 'PUT', 'PUT'])
  })

  test('may have been carried out where the service has both, and is gone then', async () => {
    await using server: RawServer = await startRawServer(whenBoth(() => server.goAway()))
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').replace('/a.txt', uploadOf(content())))
    expect(error).toMatchObject({ name: 'NetworkError', kind: 'cut' })
    expect(isOutcomeUnknown(error)).toBe(true)
    expect(asked(server)).toEqual(['DELETE', 'PUT'])
  })

  test('does not send the upload again where the server closes after its answer to the delete', async () => {
    await using server = await startRawServer(
      whenBoth((deletion) => void deletion.writeHead(204, { connection: 'close' }).end()),
    )
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').replace('/a.txt', uploadOf(content())))
    expect(error).toMatchObject({ name: 'NetworkError', kind: 'cut' })
    expect(asked(server)).toEqual(['DELETE', 'PUT'])
  })

  test('has a connection of which no upload is left that broke while its content was still being read', async () => {
    let deletion: ServerResponse | undefined
    let readOn = (): void => {}
    const whenBothAreSent = new Promise<void>((resolve) => (readOn = resolve))
    let leave = (): void => {}
    const whenLeft = new Promise<void>((resolve) => (leave = resolve))
    await using server = await startRawServer((request, response) => {
      if (request.url?.includes('broken') === true) response.destroy()
      else if (request.method === 'DELETE') deletion = response
      else {
        readOn()
        void whenLeft.then(() => {
          deletion?.writeHead(204).end()
          answerJson(response, 201, stored)
        })
      }
    })
    await using client = clientOf(server, { connections: 2 })
    const files = client.files('acme')
    const slow: Upload['content'] = {
      kind: 'bytes',
      size: 400_000,
      async *open() {
        try {
          yield Buffer.alloc(200_000)
          await whenBothAreSent
          yield Buffer.alloc(200_000)
        } finally {
          setImmediate(leave)
        }
      },
    }
    const broken = rejection(files.upload('/broken.txt', uploadOf(slow)))
    expect(isOutcomeUnknown(await broken)).toBe(true)
    expect(await files.replace('/a.txt', uploadOf(content()))).toMatchObject({ size: 3 })
  })

  test('ends with its signal, and sends neither again', async () => {
    const controller = new AbortController()
    const reason = new Error('written again')
    await using server = await startRawServer(whenBoth(() => controller.abort(reason)))
    await using client = clientOf(server)
    const { signal } = controller
    const replaced = client.files('acme').replace('/a.txt', uploadOf(content()), { signal })
    expect(await rejection(replaced)).toBe(reason)
    await client.files('acme').upload('/b.txt', uploadOf(content()))
    expect(asked(server)).toEqual(['DELETE', 'PUT', 'PUT'])
  })

  test('is unreachable where there is no connection', async () => {
    const server = await startRawServer(() => {})
    await using client = clientOf(server)
    await server[Symbol.asyncDispose]()
    const replaced = client.files('acme').replace('/a.txt', uploadOf(content()), { attempts: 1 })
    expect(await rejection(replaced)).toMatchObject({ kind: 'unreachable' })
  })
})

describe('the connections to the service', () => {
  test('are no more than asked for: who comes late waits, and may give up', async () => {
    const waiting: ServerResponse[] = []
    await using server = await startRawServer((_request, response) => void waiting.push(response))
    await using client = clientOf(server, { connections: 2 })
    const files = client.files('acme')
    const answers = ['/a', '/b', '/c'].map((path) => files.get(path))
    const late = new AbortController()
    const gaveUp = rejection(files.get('/d', { signal: late.signal }))
    late.abort(new Error('given up'))
    expect(await gaveUp).toMatchObject({ message: 'given up' })
    for (let count = 0; count < 3; count++) {
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
      answerJson(waiting.shift() as ServerResponse, 200, stored)
    }
    await Promise.all(answers)
    expect(server.connectionCount).toBe(2)
    expect(server.requests.map(({ url }) => url)).not.toContainEqual(expect.stringContaining('%2Fd'))
  })
})
