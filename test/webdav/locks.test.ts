// LOCK, UNLOCK and the `If` header, where litmus asks nothing: refresh, time-outs, what Windows and Finder do with them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { parseIfHeader } from '../../src/webdav/if-header.ts'
import { Locks } from '../../src/webdav/locks.ts'
import { heldTimers } from '../support/held-timers.ts'
import { openWebdav, type Answer, type OpenedWebdav } from './open-webdav.ts'

let opened: OpenedWebdav

beforeAll(async () => {
  opened = await openWebdav({ given: { '/office/report.txt': 'first', '/office/other.txt': 'other' } })
})
afterAll(() => opened.close())

const ask: OpenedWebdav['ask'] = (...args) => opened.ask(...args)
const body = `<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>
  <owner><href>Ann &amp; Bob</href></owner></lockinfo>`

async function lock(path: string, headers: Record<string, string> = {}): Promise<Answer & { token: string }> {
  const answer = await ask('LOCK', path, { body, headers: { timeout: 'Second-3600', ...headers } })
  return { ...answer, token: String(answer.headers['lock-token'] ?? '').slice(1, -1) }
}

describe('a lock', () => {
  it('keeps others out of the document, of its name, and of its folder', async () => {
    const { status, token, text } = await lock('/office/report.txt')
    expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('Ann &amp; Bob') })
    const elsewhere = { destination: '/office/elsewhere.txt' }
    expect((await ask('PUT', '/office/report.txt', { body: 'x' })).status).toBe(423)
    expect((await ask('DELETE', '/office/report.txt')).status).toBe(423)
    expect((await ask('MOVE', '/office/report.txt', { headers: elsewhere })).status).toBe(423)
    expect((await ask('MOVE', '/office', { headers: { destination: '/bureau' } })).status).toBe(423)
    expect((await ask('DELETE', '/office')).status).toBe(423)
    const over = { destination: '/office/report.txt' }
    expect((await ask('COPY', '/office/other.txt', { headers: over })).status).toBe(423)
    expect((await lock('/office/report.txt')).status).toBe(423)
    expect((await lock('/office')).status).toBe(423)
    expect((await ask('GET', '/office/report.txt')).text).toBe('first')
    const mine = { if: `(<${token}>)` }
    expect((await ask('PUT', '/office/report.txt', { headers: mine, body: 'mine' })).status).toBe(204)
    const gone = { 'lock-token': `<${token}>` }
    expect((await ask('UNLOCK', '/office/other.txt', { headers: gone })).status).toBe(409)
    expect((await ask('UNLOCK', '/office/report.txt', { headers: gone })).status).toBe(204)
    expect((await ask('PUT', '/office/report.txt', { body: 'free' })).status).toBe(204)
  })

  it('is shown to those who ask, and begins anew with its token', async () => {
    const { token } = await lock('/office/report.txt', { timeout: 'Second-60' })
    const shown = await ask('PROPFIND', '/office/report.txt', { headers: { depth: '0' } })
    expect(shown.text).toContain(token)
    const renewing = { if: `(<${token}>)`, timeout: 'Infinite, Second-4100000000' }
    const renewed = await ask('LOCK', '/office/report.txt', { headers: renewing })
    expect(renewed).toMatchObject({ status: 200, text: expect.stringContaining('Second-3600') })
    await ask('UNLOCK', '/office/report.txt', { headers: { 'lock-token': `<${token}>` } })
    expect((await ask('LOCK', '/office/report.txt', { headers: renewing })).status).toBe(412)
  })

  it('ends by itself', () => {
    let now = 0
    const locks = new Locks(10, () => now)
    const wish = { path: '/a', client: 'x', isShared: false, isDeep: true, owner: '', timeoutMs: 60_000 }
    expect(locks.add(wish)).toHaveProperty('lock')
    expect(locks.add({ ...wish, path: '/a/b' })).toHaveProperty('inTheWay')
    expect(locks.add({ ...wish, path: '/ab' })).toHaveProperty('lock')
    now = 60_000
    expect(locks.covering('/a/b')).toEqual([])
    expect(locks.add({ ...wish, path: '/a/b' })).toHaveProperty('lock')
  })

  it('goes with the document', async () => {
    const { token } = await lock('/office/gone.txt')
    expect((await ask('DELETE', '/office/gone.txt', { headers: { if: `(<${token}>)` } })).status).toBe(204)
    expect((await ask('PUT', '/office/gone.txt', { body: 'new' })).status).toBe(201)
  })
})

describe('Windows', () => {
  it('saves a new document by LOCK, PUT, PROPPATCH, UNLOCK: one upload', async () => {
    opened.behind.clearCalls()
    expect((await ask('PUT', '/office/new.txt')).status).toBe(201)
    const { status, token } = await lock('/office/new.txt')
    expect(status).toBe(200)
    const headers = { if: `(<${token}>)` }
    expect((await ask('PUT', '/office/new.txt', { headers, body: 'the report' })).status).toBe(204)
    const times = `<propertyupdate xmlns="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><set><prop>
      <Z:Win32CreationTime>Fri, 14 Jul 2017 02:40:00 GMT</Z:Win32CreationTime></prop></set></propertyupdate>`
    expect((await ask('PROPPATCH', '/office/new.txt', { headers, body: times })).status).toBe(207)
    expect((await ask('UNLOCK', '/office/new.txt', { headers: { 'lock-token': `<${token}>` } })).status).toBe(
      204,
    )
    await opened.fileSystem.wait('/', { timeoutMs: 20_000 })
    opened.behind.expectCalls('/office/new.txt', { PUT: 1, DELETE: 0 })
    expect((await ask('GET', '/office/new.txt')).text).toBe('the report')
  })

  it('saves over a document by LOCK, PUT of nothing, PUT, UNLOCK: one replace', async () => {
    opened.behind.clearCalls()
    const { token } = await lock('/office/other.txt')
    const headers = { if: `(<${token}>)` }
    const nothing = { ...headers, 'content-length': '0' }
    expect((await ask('PUT', '/office/other.txt', { headers: nothing })).status).toBe(204)
    expect((await ask('PUT', '/office/other.txt', { headers, body: 'newer' })).status).toBe(204)
    await ask('UNLOCK', '/office/other.txt', { headers: { 'lock-token': `<${token}>` } })
    await opened.fileSystem.wait('/', { timeoutMs: 20_000 })
    opened.behind.expectCalls('/office/other.txt', { PUT: 1, DELETE: 1 })
  })

  it('locks a name that is free: an empty document, and of a refused type none', async () => {
    const { status, token } = await lock('/office/begun.txt')
    expect(status).toBe(201)
    expect((await ask('GET', '/office/begun.txt')).text).toBe('')
    await ask('UNLOCK', '/office/begun.txt', { headers: { 'lock-token': `<${token}>` } })
    await opened.fileSystem.wait('/', { timeoutMs: 20_000 })
    expect((await opened.testService.other.bytes('/office/begun.txt')).length).toBe(0)
    expect((await lock('/office/program.exe')).status).toBe(415)
    expect((await ask('PUT', '/office/program.exe', { body: 'MZ' })).status).toBe(415)
  })
})

describe('a document that a LOCK made', () => {
  it('is not sent while its lock holds, and is empty when that has ended', async () => {
    const timers = heldTimers()
    let now = 0
    const drive = await openWebdav({
      given: { '/office/report.txt': 'first' },
      webdav: { clock: Object.assign(timers, { steady: () => now }) },
    })
    try {
      const headers = { timeout: 'Second-1000' }
      for (const path of ['/office/filled.txt', '/office/left.txt'])
        expect((await drive.ask('LOCK', path, { body, headers })).status).toBe(201)
      const sent = (path: string): number =>
        drive.testService.service.calls.filter((call) => call.method === 'PUT' && call.path === path).length
      now = 999_000
      timers.fire()
      timers.fire()
      // A document that comes later is sent.
      expect((await drive.ask('PUT', '/office/later.txt', { body: 'later' })).status).toBe(201)
      expect([sent('/office/later.txt'), sent('/office/filled.txt'), sent('/office/left.txt')]).toEqual([
        1, 0, 0,
      ])
      const token = (await drive.ask('PROPFIND', '/office/filled.txt', { headers: { depth: '0' } })).text
      const [lockToken] = /urn:uuid:[-0-9a-f]+/.exec(token) ?? []
      const filled = await drive.ask('PUT', '/office/filled.txt', {
        headers: { if: `(<${lockToken}>)` },
        body: 'the report',
      })
      expect(filled.status).toBe(204)
      now = 1_000_000
      timers.fire()
      expect(timers.waiting).toBe(0)
      await drive.server.finishPendingPuts()
      await drive.fileSystem.wait('/', { timeoutMs: 20_000 })
      expect([sent('/office/filled.txt'), sent('/office/left.txt')]).toEqual([1, 1])
      expect((await drive.testService.other.bytes('/office/left.txt')).length).toBe(0)
    } finally {
      await drive.close()
    }
  })
})

describe('a client that takes locks without end', () => {
  const from = '127.0.0.2'
  const lockFrom = async (path: string, localAddress?: string, timeout = 'Second-3600'): Promise<number> => {
    const from = localAddress === undefined ? {} : { localAddress }
    return (await ask('LOCK', path, { body, headers: { timeout }, ...from })).status
  }

  it('gets so many, and others get theirs', async () => {
    await opened.reopen({ limits: { locks: 5 } })
    const taken: number[] = []
    for (let n = 0; n < 10; n++) taken.push(await lockFrom(`/many/${n}.txt`, from))
    expect(taken).toEqual([409, 409, 409, 409, 409, 409, 409, 409, 409, 409])
    taken.length = 0
    for (let n = 0; n < 10; n++) taken.push(await lockFrom(`/many-${n}.txt`, from))
    expect(taken).toEqual([201, 201, 201, 201, 201, 503, 503, 503, 503, 503])
    expect(await lockFrom('/office/report.txt', from)).toBe(503)
    expect(await lockFrom('/another.txt')).toBe(201)
    const { text } = await ask('PROPFIND', '/', { headers: { depth: '1' } })
    expect(new Set(text.match(/many-\d\.txt/g)).size).toBe(5)
  })

  it('leaves no more empty documents behind when its locks end at once', async () => {
    await opened.reopen({ limits: { locks: 3 } })
    const taken: number[] = []
    for (let n = 0; n < 6; n++) taken.push(await lockFrom(`/brief-${n}.txt`, from, 'Second-0'))
    expect(taken).toEqual([201, 201, 201, 503, 503, 503])
    expect((await ask('PUT', '/brief-0.txt', { body: 'filled' })).status).toBe(204)
    expect((await ask('DELETE', '/brief-1.txt')).status).toBe(204)
    taken.length = 0
    for (let n = 3; n < 6; n++) taken.push(await lockFrom(`/brief-${n}.txt`, from, 'Second-0'))
    expect(taken).toEqual([201, 201, 503])
  })
})

describe('an If header', () => {
  it('is read', () => {
    expect(parseIfHeader('<http://h/a> (<urn:1> ["x, (y"]) (Not <DAV:no-lock>)')).toEqual([
      {
        target: 'http://h/a',
        conditions: [
          { isNegated: false, kind: 'token', value: 'urn:1' },
          { isNegated: false, kind: 'tag', value: '"x, (y"' },
        ],
      },
      { target: 'http://h/a', conditions: [{ isNegated: true, kind: 'token', value: 'DAV:no-lock' }] },
    ])
  })

  it.each(['', '()', '(<a>', 'x', '<a>', '(Not)'])('%j is no If header', (text) => {
    expect(() => parseIfHeader(text)).toThrow('cannot be read')
  })
})
