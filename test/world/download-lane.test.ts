import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { headIn } from '../../src/world/answer-head.ts'
import { DirectDownloads } from '../../src/world/direct-downloads.ts'
import type { DownloadResponse } from '../../src/world/download-lane.ts'
import { trustWith } from '../../src/world/trust.ts'
import { makePrivateAuthority } from '../support/private-authority.ts'
import { waitUntil } from '../support/wait-until.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Answers each request, of which `answer` is told the number, from 1, with exactly what it writes. */
async function serve(
  answer: (socket: Socket, count: number) => unknown,
  make: (onSocket: (socket: Socket) => void) => Server = createServer,
): Promise<{ origin: string; sockets: Socket[] }> {
  const sockets: Socket[] = []
  let count = 0
  const server = make((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', () => void answer(socket, ++count))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((end) => server.close(end))
  })
  const address = server.address() as { port: number }
  return { origin: `http://127.0.0.1:${address.port}`, sockets }
}

function downloads(maxLanes = 2, caFile?: string): DirectDownloads {
  const options = {
    connectTimeoutMs: 5_000,
    keptMs: 30_000,
    onConnectError: () => {},
    trust: trustWith(caFile),
  }
  const all = new DirectDownloads(maxLanes, options)
  ends.push(() => all.destroy())
  return all
}

function get(
  all: DirectDownloads,
  origin: string,
  signal = new AbortController().signal,
): Promise<DownloadResponse> {
  return all.get({ origin, target: '/b?sig=1', headers: {}, signal, explain: (error) => error })
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of chunks) pieces.push(piece)
  return Buffer.concat(pieces)
}

const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'

describe('a response', () => {
  test.each([
    ['with a length', whole],
    ['with a length said twice', 'HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhello'],
    [
      'behind interim ones',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${whole}`,
    ],
    [
      'in chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nc: d\r\n\r\n',
    ],
    ['up to the end of the connection', 'HTTP/1.0 200 OK\r\n\r\nhello'],
    ['without a reason', 'HTTP/1.1 200\r\nContent-Length:5\r\n\r\nhello'],
  ])('%s is read, however it is cut into pieces', async (name, text) => {
    for (const size of [1, 2, 7, text.length]) {
      const { origin } = await serve(async (socket) => {
        for (let at = 0; at < text.length; at += size) {
          socket.write(text.slice(at, at + size))
          await new Promise(setImmediate)
        }
        if (name.includes('end of the connection')) socket.end()
      })
      const { head, chunks } = await get(downloads(), origin)
      expect(head.status).toBe(200)
      expect((await collect(chunks)).toString()).toBe('hello')
    }
  })

  test.each([
    ['that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['without a status', 'HTTP/1.1 OK\r\n\r\n'],
    ['with a header without a name', 'HTTP/1.1 200 OK\r\nhello\r\n\r\n'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'],
    ['with a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello'],
    ['in a coding that is not known', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n'],
    ['with too long a head', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(40_000)}\r\n\r\n`],
    ['of another protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('%s is an error', async (_, text) => {
    const { origin } = await serve((socket) => void socket.end(text))
    await expect(get(downloads(), origin)).rejects.toMatchObject({ code: 'HPE_INVALID' })
  })

  test.each([
    [
      'with a chunk longer than its length',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n',
    ],
    ['with a chunk without a length', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello\r\n'],
    ['with more than its chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nhello'],
  ])('%s is an error', async (_, text) => {
    const { origin } = await serve((socket) => void socket.end(text))
    const { chunks } = await get(downloads(), origin)
    await expect(collect(chunks)).rejects.toMatchObject({ code: 'HPE_INVALID' })
  })

  test.each([
    ['its head', ''],
    ['half its head', 'HTTP/1.1 200 OK\r\n'],
    ['half its body', whole.slice(0, -2)],
    ['half its chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n'],
  ])('that breaks off before %s has ended is an error of the connection', async (_, text) => {
    const { origin } = await serve((socket) => void socket.end(text))
    const read = get(downloads(), origin).then(({ chunks }) => collect(chunks))
    await expect(read).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
  })

  test('tells how long its connection is kept', () => {
    const keptMs = (lines: string): number | undefined => headIn(Buffer.from(`${lines}\r\n\r\n`))?.head.keptMs
    expect(keptMs('HTTP/1.1 200 OK')).toBe(undefined)
    expect(keptMs('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=3')).toBe(5_000)
    expect(keptMs('HTTP/1.1 200 OK\r\nConnection: Close')).toBe(0)
    expect(keptMs('HTTP/1.0 200 OK')).toBe(0)
    expect(keptMs('HTTP/1.0 200 OK\r\nConnection: keep-alive')).toBe(undefined)
  })
})

describe('a connection', () => {
  test('carries one download after another, as many at once as there may be', async () => {
    const { origin, sockets } = await serve((socket) => void setTimeout(() => socket.write(whole), 5))
    const all = downloads(2)
    const read = async (): Promise<string> => (await collect((await get(all, origin)).chunks)).toString()
    expect(await Promise.all(Array.from({ length: 9 }, read))).toEqual(
      Array.from({ length: 9 }, () => 'hello'),
    )
    expect(sockets).toHaveLength(2)
  })

  test('that was closed while it was idle is made anew', async () => {
    const { origin, sockets } = await serve((socket) => void socket.write(whole))
    const all = downloads(1)
    await collect((await get(all, origin)).chunks)
    const [first] = sockets
    first?.end()
    await once(first as Socket, 'close')
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await collect((await get(all, origin)).chunks)).toString()).toBe('hello')
    expect(sockets).toHaveLength(2)
  })

  test('that brings more than was promised is not used again', async () => {
    const { origin, sockets } = await serve((socket) => void socket.write(`${whole}!`))
    const all = downloads(1)
    for (let count = 1; count <= 2; count++) {
      expect((await collect((await get(all, origin)).chunks)).toString()).toBe('hello')
      expect(sockets).toHaveLength(count)
    }
  })

  test('that is not to be kept is not', async () => {
    const once = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello'
    const { origin, sockets } = await serve((socket) => void socket.write(once))
    const all = downloads(1)
    for (let count = 1; count <= 3; count++) {
      await collect((await get(all, origin)).chunks)
      expect(sockets).toHaveLength(count)
    }
  })

  test('goes to the next download when a response is discarded, and is taken by none then', async () => {
    const { origin, sockets } = await serve((socket, count) => {
      socket.write(count === 1 ? 'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\nhello' : whole)
    })
    const all = downloads(1)
    const { chunks, discard } = await get(all, origin)
    const next = get(all, origin)
    discard()
    await expect(collect(chunks)).rejects.toMatchObject({ code: 'UND_ERR_ABORTED' })
    expect((await collect((await next).chunks)).toString()).toBe('hello')
    expect(sockets).toHaveLength(2)
  })

  test('ends with the reason of an abort, wherever that comes', async () => {
    let asked = 0
    const { origin } = await serve((socket, count) => {
      asked = count
      if (count === 2) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\nhello')
    })
    const all = downloads(1)
    const unanswered = new AbortController()
    const first = get(all, origin, unanswered.signal)
    await waitUntil('the request', () => asked === 1)
    unanswered.abort(new Error('first'))
    await expect(first).rejects.toThrow('first')
    const answered = new AbortController()
    const { chunks } = await get(all, origin, answered.signal)
    expect(Buffer.from((await chunks.next()).value as Uint8Array).toString()).toBe('hello')
    answered.abort(new Error('second'))
    await expect(chunks.next()).rejects.toThrow('second')
    const waiting = new AbortController()
    const blocking = get(all, origin)
    const third = get(all, origin, waiting.signal)
    waiting.abort(new Error('third'))
    await expect(third).rejects.toThrow('third')
    await all.destroy()
    await expect(blocking).rejects.toMatchObject({ code: 'UND_ERR_DESTROYED' })
  })

  test('receives no more than its reader takes, in memory of one block each', async () => {
    const sizeBytes = 32 * 1024 * 1024
    const content = Buffer.alloc(sizeBytes, 'no two blocks are the same: 0123456789 ')
    const { origin, sockets } = await serve((socket) => {
      socket.write(`HTTP/1.1 206 Partial Content\r\ncontent-length: ${sizeBytes}\r\n\r\n`)
      socket.write(content)
    })
    const { chunks } = await get(downloads(), origin)
    const first = (await chunks.next()).value as Uint8Array
    const waiting = (): number => sockets[0]?.writableLength ?? 0
    // Once all buffers on the way are full.
    for (let before = -1, still = 0; still < 10; before = waiting()) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      still = waiting() === before ? still + 1 : 0
    }
    expect(waiting()).toBeGreaterThan(sizeBytes / 4)
    const pieces = [first]
    for await (const piece of chunks) {
      expect(piece.buffer.byteLength).toBeLessThanOrEqual(128 * 1024)
      pieces.push(piece)
    }
    expect(Buffer.concat(pieces).equals(content)).toBe(true)
  })

  test('is trusted by its certificate alone, and receives over TLS what was sent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lane-'))
    ends.push(() => rm(folder, { recursive: true }))
    const { ca, cert, key } = await makePrivateAuthority(folder, '127.0.0.1')
    const files = { cert: await readFile(cert), key: await readFile(key) }
    const content = Buffer.alloc(1_000_000, 'over TLS, too; ')
    const { origin } = await serve(
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n`)
        socket.write(content)
      },
      (onSocket) => createTlsServer(files, onSocket),
    )
    const address = origin.replace('http:', 'https:')
    await expect(get(downloads(), address)).rejects.toThrow(/certificate/)
    const all = downloads(2, ca)
    for (let count = 0; count < 3; count++)
      expect((await collect((await get(all, address)).chunks)).equals(content)).toBe(true)
  })
})
