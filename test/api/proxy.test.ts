import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import type { RemoteFile } from '../../src/api/types.ts'
import { answerJson, startRawServer } from '../support/raw-server.ts'
import { clientOf, rejection } from './client-support.ts'

/** An address of this machine that stands for another machine's. */
const elsewhere = '127.0.0.2'

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
  await using server = await startRawServer((_, response) => answerJson(response, 200, []), elsewhere)
  await using proxy = await startProxy(200)
  vi.stubEnv('HTTP_PROXY', proxy.url)
  {
    await using client = clientOf(server)
    expect(await client.projects()).toEqual([])
    expect(proxy.tunnels).toEqual([new URL(server.origin).host])
  }
  vi.stubEnv('NO_PROXY', elsewhere)
  await using client = clientOf(server)
  expect(await client.projects()).toEqual([])
  expect(proxy.tunnels).toHaveLength(1)
})

test('a service on this machine is not asked through a proxy, whose own machine would get the key', async () => {
  const link = { ftype: 'file', name: 'a.txt', size: 1 }
  await using server = await startRawServer(({ url }, response) => {
    if (url?.startsWith('/content') === true) response.end('a')
    else answerJson(response, 200, { ...link, url: `${server.origin}/content` })
  })
  await using proxy = await startProxy(200)
  for (const noProxy of ['', 'documents.example']) {
    vi.stubEnv('HTTP_PROXY', proxy.url)
    vi.stubEnv('NO_PROXY', noProxy)
    for (const host of ['127.0.0.1', 'localhost']) {
      const baseUrl = `http://${host}:${new URL(server.origin).port}/api`
      await using client = clientOf(server, { baseUrl })
      const files = client.files('acme')
      const { url = '' } = (await files.get('/a.txt')) as RemoteFile
      const download = await files.download(url, '/a.txt', { offset: 0, length: 1 })
      for await (const chunk of download.chunks) expect(Buffer.from(chunk).toString()).toBe('a')
      expect(proxy.tunnels).toEqual([])
    }
  }
})

test('a proxy that refuses fails the call', async () => {
  await using server = await startRawServer((_, response) => answerJson(response, 200, []), elsewhere)
  await using proxy = await startProxy(407)
  vi.stubEnv('HTTP_PROXY', proxy.url)
  await using client = clientOf(server)
  expect(String(await rejection(client.projects({ attempts: 1 })))).toMatch(/GET \/projects: .*407/)
  expect(server.requests).toHaveLength(0)
})
