// Requests that come together on one connection.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { keepOrder } from '../../src/service/edge/request-order.ts'
import { defaultLimits } from '../../src/service/limits.ts'
import { startTestService } from '../support/service.ts'

test('what comes together on one connection is carried out in its order', async () => {
  const testService = await startTestService()
  try {
    await testService.other.put('/a.txt', 'old')
    // Without order the upload would be faster.
    testService.service.faults.inject({ kind: 'latency', ms: 100 }, { method: 'DELETE' })
    const body = JSON.stringify({
      mimetype: 'text/plain',
      filename: 'a.txt',
      file_type: 'binary',
      file: Buffer.from('new').toString('base64'),
    })
    const { host, hostname, port, pathname } = new URL(testService.baseUrl)
    const target = `${pathname}/projects/acme/files?path=/a.txt`
    const head = `host: ${host}\r\nx-api-key: ${testService.apiKey}\r\n`
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(`DELETE ${target} HTTP/1.1\r\n${head}\r\n`)
    socket.write(
      `PUT ${target} HTTP/1.1\r\n${head}content-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    let answers = ''
    for await (const chunk of socket) answers += String(chunk)
    expect(answers.match(/^HTTP\/1.1 \d+/gm)).toEqual(['HTTP/1.1 204', 'HTTP/1.1 201'])
    expect((await testService.other.bytes('/a.txt')).toString()).toBe('new')
  } finally {
    await testService.close()
  }
})

test('a connection on which ever more requests wait is cut: nobody needs a key for them', async () => {
  const app = Fastify()
  keepOrder(app, defaultLimits)
  let open = (): void => undefined
  const gate = new Promise<string>((resolve) => (open = () => resolve('y')))
  app.get('/first', () => gate)
  app.get('/', () => 'x')
  let came = 0
  app.server.on('request', () => came++)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  /** The number of answers to one request that waits and so many behind it. */
  const answersTo = async (count: number): Promise<number> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    let answers = ''
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()))
    const arrived = once(app.server, 'request')
    const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\n')
    await arrived
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count - 1) + last)
    if (count < defaultLimits.requestsPerConnection) {
      await expect.poll(() => came).toBe(count + 1)
      open()
    }
    await closed
    return answers.split('HTTP/1.1 200').length - 1
  }
  try {
    // One read brings 64 KiB: some 2,300 of these.
    expect(await answersTo(50_000)).toBe(0)
    expect(came).toBeLessThan(10_000)
    came = 0
    expect(await answersTo(90)).toBe(91)
  } finally {
    await app.close()
  }
})
