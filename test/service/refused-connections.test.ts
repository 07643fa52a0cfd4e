// A client that is refused on a connection is told so and loses it, whatever else it sends on it: connections are counted.

import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { answerClientError } from '../../src/service/edge/client-error.ts'
import { type TestService, documentOf, files, startTestService } from './support.ts'

const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((known) => known?.family === 'IPv4' && !known.internal)?.address

let service: TestService | undefined
const opened: Socket[] = []
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await service?.close()
  service = undefined
})

/** Somebody who never hangs up. */
function stubborn(port: number, host = '127.0.0.1'): { socket: Socket; said: () => string } {
  const socket = connect({ port, host, allowHalfOpen: true }).on('error', () => undefined)
  opened.push(socket)
  let said = ''
  socket.setEncoding('latin1').on('data', (text: string) => (said += text))
  return { socket, said: () => said }
}

/** Resolves when the other side takes nothing any more. */
async function untilClosed(socket: Socket): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const sending = setInterval(() => socket.write('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n'), 50)
  await closed
  clearInterval(sending)
}

describe('whoever is refused before there is a request', () => {
  test.each([
    ['speaks no HTTP', 'nonsense\r\n\r\n', 400],
    ['takes it for a proxy', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405],
  ])('and %s is told so, and cut off', async (_, said, status) => {
    service = await startTestService()
    const client = stubborn(service.service.port)
    client.socket.write(said)
    await once(client.socket, 'end')
    expect(client.said()).toMatch(`HTTP/1.1 ${status} `)
    await untilClosed(client.socket)
  })

  test('behind TLS, where nothing can be said yet, is cut off', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = stubborn((server.address() as AddressInfo).port)
    const [socket] = (await once(server, 'connection')) as [Socket]
    const closed = once(socket, 'close')
    const error = Object.assign(new Error('the handshake took too long'), {
      code: 'ERR_TLS_HANDSHAKE_TIMEOUT',
    })
    answerClientError(error, new TLSSocket(socket, { isServer: true }))
    await closed
    expect(client.said()).toBe('')
    server.close()
  })

  test('gets no second answer into the one that is under way', async () => {
    service = await startTestService()
    const bytes = Buffer.alloc(16 * 1024 * 1024, 'x')
    const { url } = (await (await service.put('/large.txt', bytes)).json()) as { url: string }
    const { socket, said } = stubborn(service.service.port)
    socket.write(`GET ${url.slice(new URL(url).origin.length)} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await once(socket, 'data')
    socket.pause()
    const closed = once(socket, 'close')
    socket.write('nonsense\r\n\r\n')
    socket.resume()
    socket.on('end', () => socket.destroy())
    await closed
    expect(said().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  })
})

describe.skipIf(ownAddress === undefined)('an address with too many connections', () => {
  test('has none of those it was refused, and what it sends on them is not carried out', async () => {
    service = await startTestService({
      limits: { connectionsPerAddress: 1, connections: 6 },
      host: '0.0.0.0',
    })
    const { port } = service.service
    const held = stubborn(port, ownAddress)
    await once(held.socket, 'connect')
    const body = JSON.stringify(documentOf('late'))
    const refused = Array.from({ length: 20 }, () => stubborn(port, ownAddress).socket)
    await Promise.all(
      refused.map(async (socket, index) => {
        socket.write(
          `PUT /api${files(`/late-${index}.txt`)} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service!.key}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
        await untilClosed(socket)
      }),
    )
    expect(await (await service.get('/')).json()).toMatchObject({ entries: [] })
  })
})

test('what follows an answer that ends the connection is not carried out', async () => {
  service = await startTestService()
  await service.put('/a.txt', 'a')
  const head = `Host: x\r\nX-API-Key: ${service.key}\r\n`
  const { socket, said } = stubborn(service.service.port)
  socket.write(
    `GET /api${files('/a.txt')} HTTP/1.1\r\n${head}Connection: close\r\n\r\n` +
      `DELETE /api${files('/a.txt')} HTTP/1.1\r\n${head}\r\n`,
  )
  await once(socket, 'end')
  expect(said().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  expect((await service.get('/a.txt')).status).toBe(200)
})

test('a body that is none is told so, and its sender is cut off', async () => {
  service = await startTestService()
  const { socket, said } = stubborn(service.service.port)
  socket.write(
    `PUT /api${files('/a.txt')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  )
  await once(socket, 'end')
  expect(said().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400'])
  await untilClosed(socket)
})
