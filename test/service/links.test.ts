// The beginning of presigned links: the operator's word, or an address of this machine; nothing a stranger sent.

import { request } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServiceOptions } from '../../src/service/index.ts'
import { type TestService, documentOf, files, startTestService } from './support.ts'

let service: TestService | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

/** The origin of the link to a document, as shown to a request with these headers. */
async function originFor(
  headers: Record<string, string>,
  options: Partial<ServiceOptions> = {},
): Promise<string> {
  service ??= await startTestService(options)
  const known = await service.get('/a.txt')
  if (known.status === 404) await service.put('/a.txt', 'content')
  const { port } = service.service
  const text = await new Promise<string>((resolve, reject) => {
    const call = request(
      {
        port,
        host: '127.0.0.1',
        path: `/api${files('/a.txt')}`,
        headers: { 'x-api-key': service!.key, ...headers },
      },
      (answer) => {
        let body = ''
        answer.on('data', (chunk: Buffer) => (body += chunk.toString()))
        answer.on('end', () => resolve(body))
      },
    )
    call.on('error', reject)
    call.end()
  })
  const { url } = JSON.parse(text) as { url: string }
  return url.slice(0, url.indexOf('/api/download/')).replace(`:${port}`, ':PORT')
}

describe('a link', () => {
  test.each([
    [{ 'x-forwarded-proto': 'javascript' }],
    [{ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' }],
    [{ forwarded: 'host=evil.example;proto=https' }],
    [{ host: 'evil.example' }],
    [{ host: 'evil.example:80@127.0.0.1' }],
    [{ host: '127.0.0.1.evil.example' }],
    [{ host: '' }],
    [{ host: '192.0.2.7:80' }],
  ])('begins with the address that was connected to, whatever %j says', async (headers) => {
    expect(await originFor(headers)).toBe('http://127.0.0.1:PORT')
  })

  test.each(['localhost:4711', '127.0.0.1:4711', '[::1]:4711'])(
    'asked for from this machine may lead to %s: another port of it',
    async (host) => {
      expect(await originFor({ host })).toBe(`http://${host}`)
    },
  )

  test('begins with the public URL where there is one, whatever the request says', async () => {
    for (const publicUrl of [
      'https://documents.example/store',
      'https://documents.example/store/',
      'https://documents.example/store/api',
    ]) {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
      expect(await originFor(headers, { publicUrl })).toBe('https://documents.example/store')
      await service!.close()
      service = undefined
    }
  })

  test('below a public URL with a path is still known as our own when it comes back as a uri', async () => {
    service = await startTestService({ publicUrl: 'https://documents.example/store' })
    await service.put('/a.txt', 'content')
    const { url } = (await (await service.get('/a.txt')).json()) as { url: string }
    const body = { ...documentOf(''), file_type: 'uri', file: url }
    const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    expect((await service.call('PUT', files('/b.txt'), init)).status).toBe(201)
  })

  test.each([
    'ftp://documents.example',
    'documents.example',
    'https://u:p@documents.example',
    'https://d.example/?a=b',
  ])('cannot begin with %s: the service does not start', async (publicUrl) => {
    await expect(startTestService({ publicUrl })).rejects.toThrow('not a public URL')
  })

  test('begins as a trusted proxy says, if that can be the beginning of one', async () => {
    const trustProxy = ['127.0.0.0/8']
    const proxied = (proto: string, host: string): Promise<string> =>
      originFor(
        { 'x-forwarded-proto': proto, 'x-forwarded-host': host, 'x-forwarded-for': '203.0.113.9' },
        { trustProxy },
      )
    expect(await proxied('https', 'documents.example')).toBe('https://documents.example')
    expect(await proxied('javascript', 'documents.example')).toBe('http://documents.example')
    expect(await proxied('https', 'evil.example/x?')).toBe('https://127.0.0.1:PORT')
  })

  test('is not what a proxy says that is not in the trusted network', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'documents.example' }
    expect(await originFor(headers, { trustProxy: ['192.0.2.0/24'] })).toBe('http://127.0.0.1:PORT')
  })

  test.each(['everybody', '', '010.0.0.0/8', '10/8', '0x7f.1', '10.0.0.0/33', '::ffff:10.0.0.0/95', '*'])(
    'a trusted network that is none (%s) stops the start',
    async (network) => {
      await expect(startTestService({ trustProxy: [network] })).rejects.toThrow(`${network} is neither`)
    },
  )

  test.each(['::ffff:127.0.0.0/104', '::ffff:127.0.0.1'])(
    'a trusted network may be written as of IPv6 (%s)',
    async (network) => {
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'documents.example' }
      expect(await originFor(headers, { trustProxy: [network] })).toBe('https://documents.example')
    },
  )
})
