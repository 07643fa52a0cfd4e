import { type RequestListener, type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { defaultUriPolicy, fetchUri } from '../../src/service/uploads/fetch-uri.ts'
import { isPrivateAddress } from '../../src/service/uploads/private-addresses.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(listener: RequestListener): Promise<URL> {
  server = createServer(listener)
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/?signature=secret`)
}

async function fetchInto(url: URL, policy: Partial<typeof defaultUriPolicy>): Promise<Buffer> {
  const chunks: Buffer[] = []
  const writer = {
    write: async (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk)),
    finish: () => Promise.reject(new Error('not here')),
    discard: () => {},
  }
  const own = { host: 'documents.example', port: 1 }
  const { totalMs, ...bounds } = { ...defaultUriPolicy, allowPrivate: true, ...policy }
  await fetchUri(url, writer, { ...bounds, own, signal: AbortSignal.timeout(totalMs) })
  return Buffer.concat(chunks)
}

describe('a fetch', () => {
  test('copies what is there', async () => {
    const url = await serve((_, answer) => answer.end('content'))
    expect((await fetchInto(url, {})).toString()).toBe('content')
  })

  test('ends when the limit is passed', async () => {
    const url = await serve((_, answer) => answer.end(Buffer.alloc(2_000_000)))
    await expect(fetchInto(url, { limitBytes: 1_000_000 })).rejects.toMatchObject({ statusCode: 413 })
  })

  test('ends when nothing comes, before or within the answer', async () => {
    const silent = await serve(() => {})
    await expect(fetchInto(silent, { idleMs: 50 })).rejects.toMatchObject({ statusCode: 400 })
    server?.closeAllConnections()
    server?.close()
    const stuck = await serve((_, answer) => void answer.write('x'))
    await expect(fetchInto(stuck, { idleMs: 50 })).rejects.toMatchObject({ statusCode: 400 })
  })

  test('ends when it takes too long, however steadily it goes', async () => {
    const url = await serve((_, answer) => {
      const drip = setInterval(() => answer.write('x'), 10)
      answer.on('close', () => clearInterval(drip))
    })
    await expect(fetchInto(url, { totalMs: 150 })).rejects.toMatchObject({
      statusCode: 400,
      message: 'the uri took too long',
    })
  })

  test('never repeats the signature in what it says', async () => {
    const url = await serve((_, answer) => answer.writeHead(403).end())
    const error: unknown = await fetchInto(url, {}).catch((reason: unknown) => reason)
    expect(String(error)).not.toContain('secret')
    expect(String(error)).toContain('403')
  })
})

test.each([
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['172.16.0.1', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['169.254.169.254', true],
  ['100.64.0.1', true],
  ['0.0.0.0', true],
  ['224.0.0.1', true],
  ['255.255.255.255', true],
  ['8.8.8.8', false],
  ['::1', true],
  ['::', true],
  ['::ffff:10.0.0.1', true],
  ['::ffff:8.8.8.8', false],
  ['fe80::1', true],
  ['fd00::1', true],
  ['ff02::1', true],
  ['64:ff9b::7f00:1', true],
  ['2002:7f00:1::', true],
  ['2606:4700:4700::1111', false],
  ['no address', true],
  // Where clouds keep what only their own machines may ask: credentials, and services of the network inside.
  ['168.63.129.16', true],
  ['169.254.170.2', true],
  ['100.100.100.200', true],
  ['192.0.0.192', true],
  ['161.26.0.7', true],
  ['166.9.1.1', true],
  ['34.118.224.1', true],
  ['fd00:ec2::254', true],
  ['fd20:ce::254', true],
  ['::ffff:a9fe:a9fe', true],
  ['64:ff9b::a9fe:a9fe', true],
  ['::127.0.0.1', true],
  ['fec0::1', true],
  ['2001:0:1::1', true],
  ['192.31.196.1', true],
  ['34.117.0.1', false],
])('%s is private: %s', (address, isPrivate) => {
  expect(isPrivateAddress(address)).toBe(isPrivate)
})
