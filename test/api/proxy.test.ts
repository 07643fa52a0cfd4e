import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { answerJson, startRawServer } from '../support/raw-server.ts'
import { clientOf, rejection } from './client-support.ts'

/** A proxy that tunnels (CONNECT), remembering where to; another status than 200 refuses. */
async function startProxy(status: number): Promise<AsyncDisposable & { url: string; tunnels: string[] }> {
  const tunnels: string[] = []
  const server = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '')
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`)
      return
    }
    const { hostname, port } = new URL(`http://${request.url}`)
    const upstream = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    socket.on('error', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a proxy named in the environment is used, except for the hosts it is not for', async () => {
  await using server = await startRawServer((_, response) => answerJson(response, 200, []))
  await using proxy = await startProxy(200)
  vi.stubEnv('HTTP_PROXY', proxy.url)
  {
    await using client = clientOf(server)
    expect(await client.projects()).toEqual([])
    expect(proxy.tunnels).toEqual([new URL(server.origin).host])
  }
  vi.stubEnv('NO_PROXY', '127.0.0.1')
  await using client = clientOf(server)
  expect(await client.projects()).toEqual([])
  expect(proxy.tunnels).toHaveLength(1)
})

test('a proxy that refuses fails the call', async () => {
  await using server = await startRawServer((_, response) => answerJson(response, 200, []))
  await using proxy = await startProxy(407)
  vi.stubEnv('HTTP_PROXY', proxy.url)
  await using client = clientOf(server)
  expect(String(await rejection(client.projects({ attempts: 1 })))).toMatch(/GET \/projects: .*407/)
  expect(server.requests).toHaveLength(0)
})
