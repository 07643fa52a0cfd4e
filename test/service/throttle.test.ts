// Room that a request takes while it is under way is given back, whatever becomes of it.

import { once } from 'node:events'
import { type ServerResponse, createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { throttleJson } from '../../src/service/edge/throttle.ts'
import { defaultLimits } from '../../src/service/index.ts'
import { Pieces, largestPieceBytes, uploadPieces } from '../../src/service/pieces.ts'

test('a sender that is gone before its key is found holds no room', async () => {
  const app = fastify()
  try {
    app.decorateRequest('keyId', undefined)
    app.decorateRequest('isSpooled', undefined)
    let gone = 0
    app.addHook('onRequest', async (request, reply) => {
      request.keyId = 'k'
      if (request.headers['x-slow'] === undefined) return
      await once(reply.raw, 'close')
      gone++
    })
    throttleJson(app, { ...defaultLimits, jsonBytesUnderWayPerKey: 10_000 })
    app.post('/', () => ({}))
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const sender = connect(Number(url.port), url.hostname)
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nX-Slow: 1\r\nContent-Type: application/json\r\n'
    sender.write(`${head}Content-Length: 9000\r\n\r\n{`, () => sender.destroy())
    await expect.poll(() => gone).toBe(1)
    const body = JSON.stringify('x'.repeat(2_000))
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect(answer.status).toBe(200)
  } finally {
    await app.close()
  }
})

test('an answer to JSON that nobody takes holds the room that its sender may have', async () => {
  const app = fastify()
  try {
    app.decorateRequest('keyId', undefined)
    app.decorateRequest('isSpooled', undefined)
    app.addHook('onRequest', async (request) => void (request.keyId = 'k'))
    throttleJson(app, { ...defaultLimits, jsonBytesUnderWayPerKey: 10_000 })
    // More than the system takes for a reader that does not read.
    app.post('/', () => 'x'.repeat(64 * 1024 * 1024))
    app.post('/small', () => 'x')
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const lazy = connect(Number(url.port), url.hostname).pause()
    lazy.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')
    const another = async (): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(new URL('/small', url), { method: 'POST', body: '{}', headers })).status
    }
    await expect.poll(another).toBe(429)
    lazy.destroy()
    await expect.poll(another).toBe(200)
  } finally {
    await app.close()
  }
})

test('those who are gone before their document is found take no share of the memory', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [, answer] = (await once(server, 'request')) as [unknown, ServerResponse]
  client.destroy()
  await once(answer, 'close')
  const pieces = new Pieces(uploadPieces)
  for (let count = 0; count < 10_000; count++) pieces.take(answer)
  expect(pieces.take(answer)).toBe(largestPieceBytes)
  server.close()
})
