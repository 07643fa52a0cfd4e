// Clients that are slow, silent, or do not stop talking: how long each is waited for, and that nobody else waits with them.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import { openWebdav, password, user, type OpenedWebdav } from './open-webdav.ts'

const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
/** More than two sockets take without a reader. */
const large = patternedBytes(32 * 2 ** 20, 'more than sockets take')

let opened: OpenedWebdav

beforeAll(async () => {
  opened = await openWebdav({ given: { '/a.txt': 'a', '/large.pdf': large } })
})
afterAll(() => opened.close())

/** A connection that has said so much, and takes nothing until it is told to. */
async function said(text: string): Promise<Socket> {
  const socket = connect(opened.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write(text)
  return socket
}

function head(method: string, path: string, ...more: string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: ${authorization}`, ...more].join(
    '\r\n',
  )
}

/** All that it is answered until the other side ends it. */
async function heard(socket: Socket): Promise<string> {
  let text = ''
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume()
  await closed
  return text
}

/** Waited for, also on a busy machine. */
const handles = () => expect.poll(() => opened.fileSystem.status().openHandles)

describe('a client that opens connections without end', () => {
  it('takes none from the others, nor from its own that ask for something', async () => {
    await opened.reopen()
    const open: Socket[] = []
    const flood = async (): Promise<void> => {
      for (let n = 0; n < 350; n++) open.push(await said(head('GET', '/a.txt')))
    }
    // It is at work: its body is on the way.
    const upload = await said(
      `${head('PUT', '/slow.txt', 'Content-Length: 8', 'Connection: close')}\r\n\r\nhalf`,
    )
    await handles().toBe(1)
    try {
      await flood()
      const answers = [undefined, '127.0.0.2', '127.0.0.3'].map((localAddress) =>
        opened.ask('GET', '/a.txt', localAddress === undefined ? {} : { localAddress }),
      )
      for (const { text } of await Promise.all(answers)) expect(text).toBe('a')
      upload.write(' way')
      expect(await heard(upload)).toContain('201 Created')
    } finally {
      for (const socket of [...open, upload]) socket.destroy()
    }
  })
})

describe('cut is', () => {
  it('who says nothing, or does not come to the end of the headers', async () => {
    await opened.reopen({ timeouts: { headersMs: 200 } })
    for (const text of ['', head('PUT', '/a.txt')]) expect(await heard(await said(text))).not.toContain('200')
  })

  it('whose body stops coming: what is there stays, and nothing is left beside it', async () => {
    await opened.reopen({ timeouts: { silenceMs: 200 } })
    for (const path of ['/a.txt', '/never.txt']) {
      const socket = await said(`${head('PUT', path, 'Content-Length: 1000')}\r\n\r\nhalf of it`)
      expect(await heard(socket)).toBe('')
    }
    await handles().toBe(0)
    expect((await opened.ask('GET', '/a.txt')).text).toBe('a')
    expect((await opened.ask('GET', '/never.txt')).status).toBe(404)
    expect(opened.fileSystem.status()).toMatchObject({ unsent: [], scratchFiles: 0 })
  })

  it('who asks for a document and does not take it', async () => {
    await opened.reopen({ timeouts: { silenceMs: 200 } })
    const socket = await said(`${head('GET', '/large.pdf')}\r\n\r\n`)
    await handles().toBe(1)
    await handles().toBe(0)
    socket.destroy()
  })

  it('whose connection rests after an answer', async () => {
    await opened.reopen({ timeouts: { idleMs: 200 } })
    expect(await heard(await said(`${head('GET', '/a.txt')}\r\n\r\n`))).toMatch(
      /^HTTP\/1.1 200 .*\r\n\r\na$/s,
    )
  })
})

describe('meanwhile', () => {
  it('everybody else is served, at the same documents too', async () => {
    await opened.reopen()
    const slow = [
      '',
      head('PUT', '/a.txt'),
      `${head('PUT', '/a.txt', 'Content-Length: 1000')}\r\n\r\nhalf of it`,
      `${head('PUT', '/slow/new.txt', 'Content-Length: 1000')}\r\n\r\nhalf of it`,
      `${head('PROPFIND', '/', 'Content-Length: 1000')}\r\n\r\n<propfind`,
      `${head('GET', '/large.pdf')}\r\n\r\n`,
    ]
    await opened.ask('MKCOL', '/slow')
    const sockets = await Promise.all(
      Array.from({ length: 60 }, (_, index) => said(slow[index % slow.length] ?? '')),
    )
    await handles().toBeGreaterThanOrEqual(21)

    expect((await opened.ask('PUT', '/a.txt', { body: 'b' })).status).toBe(204)
    expect((await opened.ask('GET', '/a.txt')).text).toBe('b')
    expect((await opened.ask('GET', '/large.pdf')).body.equals(large)).toBe(true)
    expect((await opened.ask('PROPFIND', '/', { headers: { depth: '1' } })).status).toBe(207)
    const headers = { destination: '/b.txt' }
    expect((await opened.ask('MOVE', '/a.txt', { headers })).status).toBe(201)
    expect((await opened.ask('COPY', '/b.txt', { headers: { destination: '/a.txt' } })).status).toBe(201)
    expect((await opened.ask('DELETE', '/b.txt')).status).toBe(204)

    for (const socket of sockets) socket.destroy()
    await handles().toBe(0)
    expect((await opened.ask('GET', '/a.txt')).text).toBe('b')
  })
})

describe('a body that is refused', () => {
  const refused: [status: string, text: string][] = [
    ['415', head('PUT', '/program.exe')],
    ['413', head('PROPFIND', '/')],
  ]

  it.each(refused)(
    'with %s is taken, so that who sends it all before he listens hears why',
    async (status, text) => {
      await opened.reopen()
      const socket = await said(`${text}\r\nContent-Length: ${large.length}\r\n\r\n`)
      await new Promise<void>((resolve) => socket.end(large, () => resolve()))
      expect(await heard(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    },
  )

  it.each(refused)('with %s and never ends is cut', async (status, text) => {
    await opened.reopen({ timeouts: { lingerMs: 200 } })
    const socket = await said(`${text}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const piece = `10000\r\n${' '.repeat(65_536)}\r\n`
    const talk = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', talk)
    talk()
    expect(await heard(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })
})
