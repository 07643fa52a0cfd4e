// Downloads that are sent on to another host, as by a service whose contents are in a store of their own.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../src/api/types.ts'
import { type RawServer, startRawServer } from '../support/raw-server.ts'
import { clientOf, collect, rejection, testKey } from './client-support.ts'

const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251))
const range = { offset: 100, length: 50 }

function answerRange(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(206, { 'content-range': 'bytes 100-149/1000', 'content-length': 50, etag: '"store-2"' })
  response.end(bytes.subarray(100, 150))
}

const sentOnTo = (place: () => string, status = 307): Promise<RawServer> =>
  startRawServer((_, response) => {
    response.writeHead(status, { location: place(), etag: '"the-same"' }).end('moved')
  })

describe('a download that is sent on', () => {
  test.each([301, 302, 303, 307, 308])(
    'with %i is followed, and only the range goes along',
    async (status) => {
      await using store = await startRawServer(answerRange)
      await using server = await sentOnTo(() => `${store.origin}/object?X-Amz-Signature=secret`, status)
      const records: RequestRecord[] = []
      await using client = clientOf(server, { onRequest: (record) => records.push(record) })
      const download = await client.files('acme').download(`${server.origin}/api/download/1`, '/a', range)
      expect(await collect(download.chunks)).toEqual(bytes.subarray(100, 150))
      expect(store.requests.map(({ url, headers }) => [url, headers.range])).toEqual([
        ['/object?X-Amz-Signature=secret', 'bytes=100-149'],
      ])
      for (const name of ['authorization', 'x-api-key', 'cookie', 'referer'])
        expect(store.requests[0]!.headers).not.toHaveProperty(name)
      expect(JSON.stringify([store.requests, server.requests])).not.toContain(testKey)
      expect(JSON.stringify(records)).not.toContain('secret')
    },
  )

  test('has the tag of the link, which does not change with the place of the bytes', async () => {
    await using store = await startRawServer(answerRange)
    await using server = await sentOnTo(() => `${store.origin}/object`)
    await using client = clientOf(server)
    const download = await client.files('acme').download(`${server.origin}/1`, '/a', range)
    expect(download).toMatchObject({ etag: '"the-same"', totalSize: 1000 })
    await collect(download.chunks)
  })

  test('by a link without a tag has that of the store, not that of a place on the way', async () => {
    await using store = await startRawServer(answerRange)
    await using middle = await sentOnTo(() => `${store.origin}/object`)
    await using server = await startRawServer((_, response) => {
      response.writeHead(307, { location: `${middle.origin}/middle` }).end()
    })
    await using client = clientOf(server)
    const download = await client.files('acme').download(`${server.origin}/1`, '/a', range)
    expect(download).toMatchObject({ etag: '"store-2"' })
    await collect(download.chunks)
  })

  test('to a link whose minute has passed asks the service again', async () => {
    await using store = await startRawServer((request, response) => {
      if (request.url === '/object?turn=1') response.writeHead(403).end('<Code>AccessDenied</Code>')
      else answerRange(request, response)
    })
    let turn = 0
    await using server = await sentOnTo(() => `${store.origin}/object?turn=${++turn}`)
    await using client = clientOf(server)
    const download = await client.files('acme').download(`${server.origin}/1`, '/a', range)
    expect(await collect(download.chunks)).toEqual(bytes.subarray(100, 150))
    expect(server.requests).toHaveLength(2)
  })

  test('to a store that refuses it twice is an ApiError, which names no place', async () => {
    await using store = await startRawServer((request, response) => {
      response.writeHead(403).end(JSON.stringify({ errorMessage: `not ${request.url}` }))
    })
    await using server = await sentOnTo(() => `${store.origin}/object?X-Amz-Signature=secret`)
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').download(`${server.origin}/1`, '/a', range))
    expect(error).toMatchObject({ status: 403, message: 'GET /a: 403 not …' })
    expect(store.requests).toHaveLength(2)
  })

  test.each([
    ['in a circle', () => '/again?secret', 'more than 5 times'],
    ['to a file', () => 'file:///etc/passwd?secret', 'no http(s) URL'],
    ['to nowhere', () => 'http://[?secret', 'no http(s) URL'],
    ['with a password', () => 'http://me:secret@127.0.0.1/', 'no http(s) URL'],
  ])('%s ends without a word of where to', async (_, place, words) => {
    await using server = await sentOnTo(place)
    await using client = clientOf(server)
    const error = await rejection(client.files('acme').download(`${server.origin}/1`, '/a', range))
    expect(error).toMatchObject({ kind: 'protocol', message: expect.stringContaining(words) })
    expect(String(error)).not.toContain('secret')
  })

  test('uses its connection to the service again', async () => {
    await using store = await startRawServer(answerRange)
    await using server = await sentOnTo(() => `${store.origin}/object`)
    await using client = clientOf(server)
    for (let turn = 0; turn < 5; turn++)
      await collect((await client.files('acme').download(`${server.origin}/1`, '/a', range)).chunks)
    expect(server.connectionCount).toBeLessThanOrEqual(2)
    expect(store.connectionCount).toBeLessThanOrEqual(2)
  })
})
