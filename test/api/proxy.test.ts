import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { RemoteFile } from '../../src/api/types.ts'
import { proxiesOf } from '../../src/world/proxy.ts'
import { startForwardProxy } from '../support/forward-proxy.ts'
import { makePrivateAuthority, type PrivateAuthority } from '../support/private-authority.ts'
import { answerJson, startRawServer } from '../support/raw-server.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { clientOf, contentOf, rejection } from './client-support.ts'

/** An address of this machine that stands for another machine's. */
const elsewhere = '127.0.0.2'

let authority: PrivateAuthority

beforeAll(async () => {
  const folder = await makeTemporaryFolder()
  authority = await makePrivateAuthority(folder.path, elsewhere)
  return () => folder.remove()
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Another machine that speaks TLS with a certificate of the private authority. */
async function startSecure(): Promise<AsyncDisposable & { origin: string; asked: string[] }> {
  const asked: string[] = []
  const [cert, key] = [readFileSync(authority.cert), readFileSync(authority.key)]
  const server = createServer({ cert, key }, ({ method, url }, response) => {
    asked.push(`${method} ${url}`)
    if (method === 'GET') answerJson(response, 200, [])
    else answerJson(response, method === 'DELETE' ? 200 : 201, { ftype: 'file', name: 'a.txt', size: 1 })
  })
  await new Promise<void>((listening) => server.listen(0, elsewhere, listening))
  return {
    origin: `https://${elsewhere}:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

test('a proxy named in the environment is used, except for the hosts it is not for', async () => {
  await using server = await startRawServer((_, response) => answerJson(response, 200, []), elsewhere)
  await using proxy = await startForwardProxy()
  vi.stubEnv('HTTP_PROXY', `http://${proxy.host}`)
  {
    await using client = clientOf(server)
    expect(await client.projects()).toEqual([])
    expect(proxy.requests).toHaveLength(1)
  }
  for (const not of [elsewhere, `.${elsewhere}`, `other.example, ${new URL(server.origin).host}`, '*']) {
    vi.stubEnv('NO_PROXY', not)
    await using client = clientOf(server)
    expect(await client.projects()).toEqual([])
    expect(proxy.requests).toHaveLength(1)
  }
  vi.stubEnv('NO_PROXY', `x${elsewhere},${elsewhere}:1`)
  await using client = clientOf(server)
  expect(await client.projects()).toEqual([])
  expect(proxy.requests).toHaveLength(2)
})

test('an IPv6 address in NO_PROXY needs no brackets', () => {
  const proxyOf = proxiesOf('proxy.example:3128', { NO_PROXY: '2001:db8::5, [2001:db8::6]:8443' })
  expect(proxyOf('https://[2001:db8::5]')).toBeUndefined()
  expect(proxyOf('https://[2001:db8::6]:8443')).toBeUndefined()
  expect(proxyOf('https://[2001:db8::6]')).toBeDefined()
  expect(proxyOf('https://[2001:db8::7]')).toBeDefined()
})

test('plain http asks the proxy for the whole URL; a tunnel is for https, as stock proxies have it', async () => {
  const link = { ftype: 'file', name: 'a.txt', size: 1 }
  await using server = await startRawServer(({ url, method }, response) => {
    if (url?.startsWith('/content') === true) response.end('a')
    else if (method !== 'GET') answerJson(response, 201, link)
    else answerJson(response, 200, { ...link, url: `${server.origin}/content?token=1` })
  }, elsewhere)
  await using proxy = await startForwardProxy({ tunnelsOnlyHttps: true })
  vi.stubEnv('HTTP_PROXY', proxy.host)
  await using client = clientOf(server)
  const files = client.files('acme')
  const { url = '' } = (await files.get('/a.txt')) as RemoteFile
  const download = await files.download(url, '/a.txt', { offset: 0, length: 1 })
  for await (const chunk of download.chunks) expect(Buffer.from(chunk).toString()).toBe('a')
  const upload = {
    mimetype: 'text/plain',
    filename: 'a.txt',
    content: contentOf([Buffer.from('a')]),
  } as const
  await files.replace('/a.txt', upload)
  expect(proxy.tunnels).toEqual([])
  expect(proxy.requests).toEqual([
    `GET ${server.origin}/api/projects/acme/files?path=%2Fa.txt`,
    `GET ${server.origin}/content?token=1`,
    `DELETE ${server.origin}/api/projects/acme/files?path=%2Fa.txt`,
    `PUT ${server.origin}/api/projects/acme/files?path=%2Fa.txt`,
  ])
})

test('https goes through a tunnel, a save over a document too', async () => {
  await using server = await startSecure()
  await using proxy = await startForwardProxy()
  vi.stubEnv('HTTPS_PROXY', proxy.host)
  await using client = clientOf(server as never, { network: { caFile: authority.ca } })
  expect(await client.projects()).toEqual([])
  const upload = {
    mimetype: 'text/plain',
    filename: 'a.txt',
    content: contentOf([Buffer.from('a')]),
  } as const
  await client.files('acme').replace('/a.txt', upload)
  expect(server.asked).toEqual([
    'GET /api/projects',
    'DELETE /api/projects/acme/files?path=%2Fa.txt',
    'PUT /api/projects/acme/files?path=%2Fa.txt',
  ])
  expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(server.origin).host]))
  expect(proxy.requests).toEqual([])
})

test('an address without http:// is understood; what is none is an error that shows no password', async () => {
  await using server = await startRawServer((_, response) => answerJson(response, 200, []), elsewhere)
  await using proxy = await startForwardProxy()
  for (const address of [proxy.host, `someone:secret%21@${proxy.host}`, `http://${proxy.host}/`]) {
    vi.stubEnv('HTTPS_PROXY', address)
    vi.stubEnv('HTTP_PROXY', address)
    await using client = clientOf(server)
    expect(await client.projects()).toEqual([])
  }
  expect(proxy.authorizations).toEqual([
    undefined,
    `Basic ${Buffer.from('someone:secret!').toString('base64')}`,
    undefined,
  ])
  for (const address of ['http://', 'someone:secret@host:port', 'socks5://someone:secret@host:1080', 'a b']) {
    vi.stubEnv('HTTPS_PROXY', address)
    expect(() => clientOf(server)).toThrow(
      /^HTTPS_PROXY is no address of an HTTP proxy: write http:\/\/HOST:PORT/,
    )
    expect(() => clientOf(server)).not.toThrow(/secret/)
  }
})

test('a proxy that is set comes before the environment, and none before every proxy', async () => {
  await using server = await startRawServer((_, response) => answerJson(response, 200, []), elsewhere)
  await using proxy = await startForwardProxy()
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9')
  {
    await using client = clientOf(server, { network: { proxy: proxy.host } })
    expect(await client.projects()).toEqual([])
    expect(proxy.requests).toHaveLength(1)
  }
  await using client = clientOf(server, { network: { proxy: 'none' } })
  expect(await client.projects()).toEqual([])
  expect(proxy.requests).toHaveLength(1)
})

test('a service on this machine is not asked through a proxy, whose own machine would get the key', async () => {
  const link = { ftype: 'file', name: 'a.txt', size: 1 }
  await using server = await startRawServer(({ url }, response) => {
    if (url?.startsWith('/content') === true) response.end('a')
    else answerJson(response, 200, { ...link, url: `${server.origin}/content` })
  })
  await using proxy = await startForwardProxy()
  for (const noProxy of ['', 'documents.example']) {
    vi.stubEnv('HTTP_PROXY', proxy.host)
    vi.stubEnv('NO_PROXY', noProxy)
    for (const host of ['127.0.0.1', 'localhost']) {
      const baseUrl = `http://${host}:${new URL(server.origin).port}/api`
      await using client = clientOf(server, { baseUrl })
      const files = client.files('acme')
      const { url = '' } = (await files.get('/a.txt')) as RemoteFile
      const download = await files.download(url, '/a.txt', { offset: 0, length: 1 })
      for await (const chunk of download.chunks) expect(Buffer.from(chunk).toString()).toBe('a')
      expect(proxy.tunnels).toEqual([])
      expect(proxy.requests).toEqual([])
    }
  }
})

test.each([407, 403, 502])('a proxy that refuses with %i fails the call, and is named', async (status) => {
  await using secure = await startSecure()
  await using plain = await startRawServer((_, response) => answerJson(response, 200, []), elsewhere)
  await using proxy = await startForwardProxy({ refusesWith: status })
  vi.stubEnv('HTTP_PROXY', proxy.host)
  {
    await using client = clientOf(secure as never)
    const error = await rejection(client.projects({ attempts: 1 }))
    expect(error).toMatchObject({ name: 'NetworkError', kind: 'unreachable' })
    expect(String(error)).toMatch(
      new RegExp(`the proxy ${proxy.host} (refuses|wants a user and a password) \\(${status}\\)`),
    )
  }
  if (status !== 407) return
  await using client = clientOf(plain)
  const error = await rejection(client.projects({ attempts: 1 }))
  expect(error).toMatchObject({ name: 'NetworkError', kind: 'unreachable' })
  expect(String(error)).toContain(`the proxy ${proxy.host} wants a user and a password`)
  expect(plain.requests).toHaveLength(0)
})

test('a proxy that drops tunnels is asked once for each attempt, and no oftener', async () => {
  await using server = await startSecure()
  await using proxy = await startForwardProxy({ dropsTunnels: true })
  vi.stubEnv('HTTPS_PROXY', proxy.host)
  await using client = clientOf(server as never, { deadlineMs: 5_000 })
  for (const attempts of [1, 2]) {
    const before = proxy.tunnels.length
    const error = await rejection(client.projects({ attempts }))
    expect(error).toMatchObject({ name: 'NetworkError', kind: 'unreachable' })
    expect(String(error)).toContain(`the proxy ${proxy.host} closed the connection`)
    expect(proxy.tunnels.length - before).toBe(attempts)
  }
})

test('a proxy that is not there is named', async () => {
  await using server = await startSecure()
  vi.stubEnv('HTTPS_PROXY', '127.0.0.1:9')
  await using client = clientOf(server as never)
  const error = await rejection(client.projects({ attempts: 1 }))
  expect(error).toMatchObject({ name: 'NetworkError', kind: 'unreachable' })
  expect(String(error)).toMatch(/the proxy 127\.0\.0\.1:9 cannot be reached.*ECONNREFUSED/)
})

test('a certificate of an authority nobody trusts is refused with what to do, and trusted once it is named', async () => {
  await using server = await startSecure()
  {
    await using client = clientOf(server as never)
    const error = await rejection(client.projects({ attempts: 1 }))
    expect(error).toMatchObject({ name: 'NetworkError', kind: 'unreachable' })
    expect(String(error)).toMatch(
      /the certificate of 127\.0\.0\.2 is not trusted \(.*\): if its authority is your own, docmount login --ca-file FILE remembers it/,
    )
  }
  {
    await using client = clientOf(server as never, { network: { caFile: authority.ca } })
    expect(await client.projects()).toEqual([])
  }
  expect(() => clientOf(server as never, { network: { caFile: '/nonexistent.pem' } })).toThrow(
    'cannot read the certificates in /nonexistent.pem: ENOENT',
  )
  expect(() => clientOf(server as never, { network: { caFile: authority.key } })).toThrow(
    `${authority.key} holds no certificate (PEM)`,
  )
})
