// Effects of each method on the drive, and on the service behind it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openWebdav, type OpenedWebdav } from './open-webdav.ts'

let opened: OpenedWebdav

beforeAll(async () => {
  opened = await openWebdav({
    given: {
      '/given/read.txt': '0123456789',
      '/given/save.txt': 'first',
      '/given/emptied.txt': 'old',
      '/given/copy.txt': 'to be copied',
      '/given/move.txt': 'to be moved',
      '/tree/a.txt': 'a',
      '/tree/below/b.txt': 'b',
      '/names/\u00FCbung.txt': 'composed',
      '/names/u\u0308ben.txt': 'decomposed',
    },
  })
})
afterAll(() => opened.close())

const ask: OpenedWebdav['ask'] = (...args) => opened.ask(...args)
const stored = async (path: string): Promise<string> =>
  (await opened.testService.other.bytes(path)).toString()
const isStored = async (path: string): Promise<boolean> =>
  (await opened.testService.other.get(path)) !== undefined
const sent = (): Promise<void> => opened.fileSystem.wait('/', { timeoutMs: 20_000 })

describe('PUT', () => {
  it('is answered when the service has the document', async () => {
    const { status, headers } = await ask('PUT', '/put/new.txt', { body: 'x' })
    expect(status).toBe(409)
    expect((await ask('MKCOL', '/put')).status).toBe(201)
    const answer = await ask('PUT', '/put/new.txt', { body: 'content' })
    expect(answer).toMatchObject({ status: 201, headers: { location: '/put/new.txt' } })
    expect(await stored('/put/new.txt')).toBe('content')
    const { headers: read } = await ask('HEAD', '/put/new.txt')
    expect(read.etag).toBe(answer.headers.etag)
    expect(headers.etag).toBeUndefined()
  })

  it('over a document is one replace', async () => {
    opened.behind.clearCalls()
    expect((await ask('PUT', '/given/save.txt', { body: 'second' })).status).toBe(204)
    expect(await stored('/given/save.txt')).toBe('second')
    opened.behind.expectCalls('/given', { PUT: 1, DELETE: 1 })
  })

  it('takes a body in pieces, of no length', async () => {
    const headers = { 'transfer-encoding': 'chunked', expect: '100-continue' }
    expect((await ask('PUT', '/put/chunked.txt', { headers, body: 'in pieces' })).status).toBe(201)
    expect(await stored('/put/chunked.txt')).toBe('in pieces')
  })

  it('with Content-Range is refused', async () => {
    const headers = { 'content-range': 'bytes 0-3/10' }
    expect((await ask('PUT', '/given/read.txt', { headers, body: 'abcd' })).status).toBe(400)
    expect(await stored('/given/read.txt')).toBe('0123456789')
  })

  it('of something packed is refused: nobody would unpack it', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect((await ask('PUT', '/put/packed.txt', { headers, body: 'packed' })).status).toBe(415)
    expect((await ask('HEAD', '/put/packed.txt')).status).toBe(404)
  })

  it('of a type that the service does not take is 415 with a sentence, and nothing is there', async () => {
    const { status, text } = await ask('PUT', '/put/program.exe', { body: 'MZ' })
    expect({ status, text }).toMatchObject({
      status: 415,
      text: expect.stringContaining('the service takes no'),
    })
    expect((await ask('HEAD', '/put/program.exe')).status).toBe(404)
  })

  it('with If-None-Match: * makes, and never replaces', async () => {
    const headers = { 'if-none-match': '*' }
    expect((await ask('PUT', '/given/read.txt', { headers, body: 'x' })).status).toBe(412)
    expect((await ask('PUT', '/put/made.txt', { headers, body: 'x' })).status).toBe(201)
  })

  it('with If-Match replaces what the client has seen, and nothing else', async () => {
    const first = await ask('PUT', '/put/match.txt', { body: 'one' })
    const seen = { 'if-match': first.headers.etag ?? '' }
    expect((await ask('PUT', '/put/match.txt', { headers: seen, body: 'two' })).status).toBe(204)
    expect((await ask('PUT', '/put/match.txt', { headers: seen, body: 'three' })).status).toBe(412)
    expect((await ask('PUT', '/put/absent.txt', { headers: seen, body: 'x' })).status).toBe(412)
    expect((await ask('GET', '/put/match.txt')).text).toBe('two')
  })

  it('by eight clients at once is one of the eight, whole, and nothing else is there', async () => {
    const other = await openWebdav({ cacheTtlMs: 1, given: { '/eight/stays.txt': 'stays' } })
    try {
      // All of them look before any of them makes it.
      const { faults } = other.testService.service
      faults.inject({ kind: 'latency', ms: 300 }, { method: 'GET', path: '/eight' })
      const contents = Array.from({ length: 8 }, (_, index) => String(index).repeat(100_000))
      const put = (path: string, headers: Record<string, string> = {}): Promise<number[]> =>
        Promise.all(
          contents.map(async (body) => (await other.ask('PUT', path, { headers, body })).status),
        ).then((all) => all.toSorted((one, other) => one - other))
      expect(await put('/eight/first.txt', { 'if-none-match': '*' })).toEqual([
        201, 412, 412, 412, 412, 412, 412, 412,
      ])
      expect((await put('/eight/a.txt')).every((status) => status === 201 || status === 204)).toBe(true)
      faults.clear()
      await other.fileSystem.wait('/', { timeoutMs: 20_000 })
      const documents = await other.testService.other.documents('/eight')
      expect([...(documents?.keys() ?? [])].toSorted()).toEqual(['a.txt', 'first.txt', 'stays.txt'])
      expect(contents).toContain(documents?.get('a.txt')?.toString())
      expect(other.fileSystem.status()).toMatchObject({ conflicts: 0, scratchFiles: 0 })
    } finally {
      await other.close()
    }
  })

  it('of nothing and then of the content is one save: what Windows and Finder do', async () => {
    opened.behind.clearCalls()
    expect((await ask('PUT', '/put/twice.txt')).status).toBe(201)
    expect((await ask('GET', '/put/twice.txt')).text).toBe('')
    expect((await ask('PUT', '/put/twice.txt', { body: 'the content' })).status).toBe(204)
    expect(await stored('/put/twice.txt')).toBe('the content')
    opened.behind.expectCalls('/put/twice.txt', { PUT: 1, DELETE: 0 })
  })

  it('of nothing over a document and then of the content is one replace', async () => {
    opened.behind.clearCalls()
    const headers = { 'content-length': '0' }
    expect((await ask('PUT', '/given/emptied.txt', { headers })).status).toBe(204)
    expect((await ask('PUT', '/given/emptied.txt', { body: 'new' })).status).toBe(204)
    expect(await stored('/given/emptied.txt')).toBe('new')
    opened.behind.expectCalls('/given/emptied.txt', { PUT: 1, DELETE: 1 })
  })

  it('of nothing is an empty document, when nothing follows', async () => {
    expect((await ask('PUT', '/put/empty.txt')).status).toBe(201)
    await opened.reopen()
    await sent()
    expect(await stored('/put/empty.txt')).toBe('')
  })

  it('keeps the modification time that the client gives', async () => {
    const headers = { 'x-oc-mtime': '1500000000' }
    const answer = await ask('PUT', '/put/timed.txt', { headers, body: 'timed' })
    expect(answer.headers['x-oc-mtime']).toBe('accepted')
    const { headers: read } = await ask('HEAD', '/put/timed.txt')
    expect(read['last-modified']).toBe(new Date(1_500_000_000_000).toUTCString())
    expect(read.etag).toBe(answer.headers.etag)
  })

  it('of junk that desktops leave behind costs the service nothing', async () => {
    opened.behind.clearCalls()
    for (const name of ['._new.txt', '.DS_Store', 'desktop.ini', 'Thumbs.db', '.metadata_never_index']) {
      expect({ name, ...(await ask('PUT', `/put/${name}`, { body: 'junk' })) }).toMatchObject({
        name,
        status: 201,
      })
      expect((await ask('GET', `/put/${name}`)).text).toBe('junk')
      expect((await ask('PUT', `/put/${name}`, { body: 'more' })).status).toBe(204)
    }
    opened.behind.expectCalls('/put', { PUT: 0, DELETE: 0 })
  })
})

describe('GET', () => {
  it('answers a document, with what its type is', async () => {
    const answer = await ask('GET', '/given/read.txt')
    expect(answer).toMatchObject({ status: 200, text: '0123456789' })
    expect(answer.headers).toMatchObject({ 'content-type': 'text/plain', 'content-length': '10' })
  })

  it.each([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=5-100', 206, '56789', 'bytes 5-9/10'],
    ['bytes=1-2,4-5', 200, '0123456789', undefined],
    ['bytes=4-2', 200, '0123456789', undefined],
    ['lines=1-2', 200, '0123456789', undefined],
  ])('of %s is %i', async (range, status, text, contentRange) => {
    const answer = await ask('GET', '/given/read.txt', { headers: { range } })
    expect({ ...answer, range: answer.headers['content-range'] }).toMatchObject({
      status,
      text,
      range: contentRange,
    })
  })

  it('by HEAD knows no ranges', async () => {
    for (const range of ['bytes=2-4', 'bytes=10-']) {
      const answer = await ask('HEAD', '/given/read.txt', { headers: { range } })
      expect(answer).toMatchObject({ status: 200, headers: { 'content-length': '10' } })
    }
  })

  it('beyond the end is 416', async () => {
    const answer = await ask('GET', '/given/read.txt', { headers: { range: 'bytes=10-' } })
    expect(answer).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */10' } })
  })

  it('of what the client has is 304', async () => {
    const { headers } = await ask('HEAD', '/given/read.txt')
    const known = { 'if-none-match': headers.etag ?? '' }
    expect(await ask('GET', '/given/read.txt', { headers: known })).toMatchObject({ status: 304, text: '' })
    const since = { 'if-modified-since': headers['last-modified'] ?? '' }
    expect((await ask('GET', '/given/read.txt', { headers: since })).status).toBe(304)
  })

  it('serves a range only of the content the client began with', async () => {
    const range = 'bytes=0-1'
    const { headers } = await ask('HEAD', '/given/read.txt')
    const same = await ask('GET', '/given/read.txt', { headers: { range, 'if-range': headers.etag ?? '' } })
    const other = await ask('GET', '/given/read.txt', { headers: { range, 'if-range': '"another"' } })
    expect([same.status, other.status]).toEqual([206, 200])
  })

  it('finds a name in any normal form', async () => {
    for (const name of ['\u00FCbung', 'u\u0308bung'])
      expect((await ask('GET', `/names/${encodeURIComponent(name)}.txt`)).text).toBe('composed')
    for (const name of ['\u00FCben', 'u\u0308ben'])
      expect((await ask('GET', `/names/${encodeURIComponent(name)}.txt`)).text).toBe('decomposed')
  })
})

describe('COPY', () => {
  it('moves no bytes, and leaves the source', async () => {
    opened.behind.clearCalls()
    const headers = { destination: '/given/copied.txt' }
    expect((await ask('COPY', '/given/copy.txt', { headers })).status).toBe(201)
    expect(await stored('/given/copied.txt')).toBe('to be copied')
    expect(await stored('/given/copy.txt')).toBe('to be copied')
    opened.behind.expectCalls('/given/copy.txt', { DELETE: 0 })
    opened.behind.expectCalls('/given/copied.txt', { PUT: 1, DELETE: 0 })
    expect((await ask('COPY', '/given/copy.txt', { headers: { ...headers, overwrite: 'F' } })).status).toBe(
      412,
    )
    for (const overwrite of ['false', 'no', '0', ''])
      expect((await ask('COPY', '/given/copy.txt', { headers: { ...headers, overwrite } })).status).toBe(400)
    expect((await ask('COPY', '/given/copy.txt', { headers })).status).toBe(204)
  })

  it('takes a folder with everything in it, or alone', async () => {
    expect((await ask('COPY', '/tree', { headers: { destination: '/tree-copy' } })).status).toBe(201)
    expect((await ask('GET', '/tree-copy/below/b.txt')).text).toBe('b')
    expect(await stored('/tree-copy/a.txt')).toBe('a')
    const alone = { destination: '/tree-alone', depth: '0' }
    expect((await ask('COPY', '/tree', { headers: alone })).status).toBe(201)
    expect((await ask('GET', '/tree-alone/a.txt')).status).toBe(404)
  })
})

describe('MOVE', () => {
  it('is a rename, over a document one replace', async () => {
    await ask('PUT', '/given/target.txt', { body: 'old' })
    opened.behind.clearCalls()
    const headers = { destination: `http://127.0.0.1:${opened.port}/given/target.txt` }
    expect((await ask('MOVE', '/given/move.txt', { headers })).status).toBe(204)
    await sent()
    opened.behind.expectCalls('/given/target.txt', { PUT: 1, DELETE: 1 })
    expect(await stored('/given/target.txt')).toBe('to be moved')
    expect(await isStored('/given/move.txt')).toBe(false)
  })

  it('to another server is refused', async () => {
    const headers = { destination: 'http://other.example/given/x.txt' }
    expect((await ask('MOVE', '/given/read.txt', { headers })).status).toBe(502)
  })

  it('of a folder into itself is refused, and so is one over a folder above', async () => {
    expect((await ask('MOVE', '/tree', { headers: { destination: '/tree/inner' } })).status).toBe(403)
    expect((await ask('MOVE', '/tree/below', { headers: { destination: '/tree' } })).status).toBe(403)
    expect((await ask('GET', '/tree/below/b.txt')).text).toBe('b')
  })

  it('over a folder takes its place', async () => {
    await ask('MKCOL', '/one')
    await ask('PUT', '/one/1.txt', { body: 'one' })
    await ask('MKCOL', '/two')
    await ask('PUT', '/two/2.txt', { body: 'two' })
    expect((await ask('MOVE', '/one', { headers: { destination: '/two' } })).status).toBe(204)
    expect((await ask('GET', '/two/1.txt')).text).toBe('one')
    expect((await ask('GET', '/two/2.txt')).status).toBe(404)
    expect((await ask('PROPFIND', '/one', { headers: { depth: '0' } })).status).toBe(404)
  })

  it('of a folder with more documents than the drive renames at once goes child by child', async () => {
    const given = Object.fromEntries(['1', '2', '3'].map((name) => [`/many/in/${name}.txt`, name]))
    const other = await openWebdav({ renameLimit: 2, given })
    try {
      expect((await other.ask('MOVE', '/many', { headers: { destination: '/moved' } })).status).toBe(201)
      expect((await other.ask('GET', '/moved/in/3.txt')).text).toBe('3')
      expect((await other.ask('PROPFIND', '/many', { headers: { depth: '0' } })).status).toBe(404)
    } finally {
      await other.close()
    }
  })
})

describe('DELETE', () => {
  it('takes a folder with everything in it', async () => {
    expect((await ask('DELETE', '/tree-copy', { headers: { depth: '0' } })).status).toBe(400)
    expect((await ask('DELETE', '/tree-copy')).status).toBe(204)
    expect((await ask('GET', '/tree-copy/a.txt')).status).toBe(404)
    await sent()
    expect(await isStored('/tree-copy')).toBe(false)
  })

  it('of the root is refused', async () => {
    expect((await ask('DELETE', '/')).status).toBe(403)
  })
})

describe('an address', () => {
  it.each([
    ['/given/../tree/a.txt', 400],
    ['/given/%2e%2e/tree/a.txt', 400],
    ['/given%2Fread.txt', 400],
    ['/given/read.txt%00', 400],
    ['/given/%FF.txt', 400],
    ['/given/%E0%80%AF', 400],
    ['/given/read.txt#part', 400],
    [`/given/${'n'.repeat(256)}.txt`, 400],
    ['//given//read.txt', 200],
    ['/given/read.txt?x=1', 200],
  ])('%s is %i', async (path, status) => {
    expect((await ask('GET', path)).status).toBe(status)
  })

  it('is told as it is to be asked for', async () => {
    await ask('MKCOL', '/odd')
    const name = "a & b <c> 'd' %20 #.txt"
    expect((await ask('PUT', `/odd/${encodeURIComponent(name)}`, { body: 'odd' })).status).toBe(201)
    const { text } = await ask('PROPFIND', '/odd', { headers: { depth: '1' } })
    const hrefs = Array.from(text.matchAll(/<D:href>([^<]*)<\/D:href>/g), ([, href]) => href ?? '')
    expect(hrefs).toHaveLength(2)
    expect((await ask('GET', hrefs[1] ?? '')).text).toBe('odd')
  })
})

describe('a read-only drive', () => {
  it('tells no locks, by which Finder knows it, and refuses every change', async () => {
    const other = await openWebdav({ isReadOnly: true, given: { '/a/b.txt': 'b' } })
    try {
      const { headers } = await other.ask('OPTIONS', '/')
      expect(headers).toMatchObject({ dav: '1', allow: 'OPTIONS, GET, HEAD, PROPFIND' })
      for (const method of ['PUT', 'DELETE', 'MKCOL', 'COPY', 'MOVE', 'PROPPATCH', 'LOCK', 'UNLOCK'])
        expect({ method, ...(await other.ask(method, '/a/b.txt')) }).toMatchObject({ method, status: 403 })
      expect((await other.ask('GET', '/a/b.txt')).text).toBe('b')
    } finally {
      await other.close()
    }
  })
})
