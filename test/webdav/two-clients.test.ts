// Two clients at one document: what one of them was told stays true, whatever becomes of the other.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openWebdav, password, user, type OpenedWebdav } from './open-webdav.ts'

const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

let opened: OpenedWebdav

beforeAll(async () => {
  opened = await openWebdav({ given: { '/two/there.txt': 'first', '/two/locked.txt': 'first' } })
})
afterAll(() => opened.close())

const ask: OpenedWebdav['ask'] = (...args) => opened.ask(...args)
const content = async (path: string): Promise<string> => (await ask('GET', path)).text
const stored = async (path: string): Promise<string> => {
  await opened.fileSystem.wait('/', { timeoutMs: 20_000 })
  return (await opened.testService.other.bytes(path)).toString()
}
const handles = () => expect.poll(() => opened.fileSystem.status().openHandles)

/** A client that has sent half of its document. */
interface Half {
  /** The connection breaks. */
  cut(): void
  /** Sends the other half; answers the first line it is told. */
  finish(): Promise<string>
}

async function half(path: string, ...more: string[]): Promise<Half> {
  const socket: Socket = connect(opened.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  const head = ['PUT ' + path + ' HTTP/1.1', 'Host: localhost', `Authorization: ${authorization}`, ...more]
  socket.write(`${head.join('\r\n')}\r\nContent-Length: 8\r\n\r\nhalf`)
  return {
    cut: () => socket.destroy(),
    async finish() {
      socket.write('half')
      const [answer] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      return answer.toString().split('\r\n')[0] ?? ''
    },
  }
}

describe('a PUT that is cut takes nothing with it of', () => {
  it('what another client has put under the new name meanwhile', async () => {
    const slow = await half('/two/new.txt')
    await handles().toBe(1)
    expect((await ask('PUT', '/two/new.txt', { body: 'theirs' })).status).toBe(204)
    slow.cut()
    await handles().toBe(0)
    expect(await content('/two/new.txt')).toBe('theirs')
    expect(await stored('/two/new.txt')).toBe('theirs')
  })

  it('what another client has moved there meanwhile', async () => {
    await ask('PUT', '/two/from.txt', { body: 'moved' })
    const slow = await half('/two/to.txt')
    await handles().toBe(1)
    expect((await ask('MOVE', '/two/from.txt', { headers: { destination: '/two/to.txt' } })).status).toBe(204)
    slow.cut()
    await handles().toBe(0)
    expect(await stored('/two/to.txt')).toBe('moved')
  })

  it('a document that was begun empty and filled by another client meanwhile', async () => {
    await ask('PUT', '/two/begun.txt')
    const slow = await half('/two/begun.txt')
    await expect.poll(() => content('/two/begun.txt')).toBe('half')
    expect((await ask('PUT', '/two/begun.txt', { body: 'theirs' })).status).toBe(204)
    slow.cut()
    await handles().toBe(0)
    expect(await content('/two/begun.txt')).toBe('theirs')
    // A later PUT fills the document that is shown, not the abandoned one.
    expect((await ask('PUT', '/two/begun.txt', { body: 'mine' })).status).toBe(204)
    expect(await content('/two/begun.txt')).toBe('mine')
    expect(await stored('/two/begun.txt')).toBe('mine')
  })

  it('a name that was deleted meanwhile', async () => {
    const slow = await half('/two/gone.txt')
    await handles().toBe(1)
    expect((await ask('DELETE', '/two/gone.txt')).status).toBe(204)
    slow.cut()
    await handles().toBe(0)
    expect((await ask('HEAD', '/two/gone.txt')).status).toBe(404)
    expect(opened.fileSystem.status()).toMatchObject({ unsent: [], scratchFiles: 0 })
  })
})

describe('a PUT that took long', () => {
  it('replaces with If-Match no version but the one it names', async () => {
    const { headers } = await ask('HEAD', '/two/there.txt')
    const slow = await half('/two/there.txt', `If-Match: ${headers.etag}`)
    await handles().toBe(1)
    const seen = { 'if-match': headers.etag ?? '' }
    expect((await ask('PUT', '/two/there.txt', { headers: seen, body: 'theirs' })).status).toBe(204)
    expect(await slow.finish()).toContain(' 412 ')
    expect(await content('/two/there.txt')).toBe('theirs')
    expect(await stored('/two/there.txt')).toBe('theirs')
    expect(opened.fileSystem.status()).toMatchObject({ scratchFiles: 0 })
  })

  it('leaves alone what another client has locked meanwhile', async () => {
    const slow = await half('/two/locked.txt')
    await handles().toBe(1)
    const lock =
      '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
    expect((await ask('LOCK', '/two/locked.txt', { body: lock })).status).toBe(200)
    expect(await slow.finish()).toContain(' 423 ')
    expect(await content('/two/locked.txt')).toBe('first')
  })
})

describe('MOVE with Overwrite: F', () => {
  it('of eight clients to one name is told to one that it has it, and to the others that it is taken', async () => {
    const names = ['0', '1', '2', '3', '4', '5', '6', '7']
    const given = Object.fromEntries(names.map((name) => [`/from/${name}.txt`, name]))
    const other = await openWebdav({ cacheTtlMs: 1, given: { ...given, '/to/stays.txt': 'stays' } })
    try {
      // All of them look before any of them moves.
      const { faults } = other.testService.service
      faults.inject({ kind: 'latency', ms: 300 }, { method: 'GET', path: '/to' })
      const headers = { destination: '/to/one.txt', overwrite: 'F' }
      const answers = await Promise.all(
        names.map(async (name) => ({
          name,
          ...(await other.ask('MOVE', `/from/${name}.txt`, { headers })),
        })),
      )
      faults.clear()
      const moved = answers.filter(({ status }) => status === 201)
      const refused = answers.filter(({ status }) => status === 412)
      expect([moved.length, refused.length]).toEqual([1, 7])
      expect((await other.ask('GET', '/to/one.txt')).text).toBe(moved[0]?.name)
      for (const { name } of refused) expect((await other.ask('GET', `/from/${name}.txt`)).text).toBe(name)
    } finally {
      await other.close()
    }
  })
})
