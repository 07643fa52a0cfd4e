// PROPFIND and PROPPATCH: what is told, what is kept, what is refused.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openWebdav, type Answer, type OpenedWebdav } from './open-webdav.ts'

let opened: OpenedWebdav

beforeAll(async () => {
  opened = await openWebdav({ given: { '/folder/a.txt': 'a', '/folder/b.pdf': 'bb', '/folder/c.txt': 'c' } })
})
afterAll(() => opened.close())

const propfind = (path: string, depth: string, body = ''): Promise<Answer> =>
  opened.ask('PROPFIND', path, { headers: { depth }, body })

const patch = (path: string, change: string): Promise<Answer> =>
  opened.ask('PROPPATCH', path, {
    body: `<propertyupdate xmlns="DAV:" xmlns:x="urn:x" xmlns:w="urn:schemas-microsoft-com:">${change}</propertyupdate>`,
  })

const asking = (names: string): string =>
  `<propfind xmlns="DAV:" xmlns:x="urn:x"><prop>${names}</prop></propfind>`

describe('PROPFIND', () => {
  it('lists a folder with what desktops ask for', async () => {
    const { status, text } = await propfind('/folder', '1')
    expect(status).toBe(207)
    expect(text).toContain('<D:href>/folder/</D:href>')
    expect(text).toContain('<D:displayname>b.pdf</D:displayname>')
    expect(text).toContain('<D:getcontentlength>2</D:getcontentlength>')
    expect(text).toContain('<D:getcontenttype>application/pdf</D:getcontenttype>')
    expect(text).toContain('<D:resourcetype><D:collection/></D:resourcetype>')
  })

  it('costs one call for a folder, and none while its listing is fresh', async () => {
    await opened.fileSystem.refresh('/folder')
    opened.behind.clearCalls()
    await propfind('/folder', '1')
    await propfind('/folder', '1')
    opened.behind.expectCalls('/folder', { getAtMost: 1, PUT: 0, DELETE: 0, download: 0 })
  })

  it('of everything below is refused, in the words of the RFC', async () => {
    const { status, text } = await propfind('/folder', 'infinity')
    expect({ status, text }).toMatchObject({
      status: 403,
      text: expect.stringContaining('propfind-finite-depth'),
    })
    expect((await propfind('/folder/a.txt', 'infinity')).status).toBe(207)
  })

  it('tells quota only where it is asked for', async () => {
    expect((await propfind('/folder', '0')).text).not.toContain('quota')
    const { text } = await propfind('/folder', '0', asking('<quota-available-bytes/><x:none/>'))
    expect(text).toMatch(/<D:quota-available-bytes>\d+</)
    expect(text).toContain('404')
  })

  it('tells times that no calendar has', async () => {
    const { fileSystem } = opened
    const caller = { uid: 0, gid: 0, pid: 0, signal: new AbortController().signal }
    const { attributes: folder } = await fileSystem.lookup(1, 'folder', caller)
    const { attributes: file } = await fileSystem.lookup(folder?.ino ?? 0, 'c.txt', caller)
    for (const sec of [9e12, -9e12]) {
      await fileSystem.setattr(file?.ino ?? 0, { mtime: { sec, nsec: 0 } }, undefined, caller)
      expect((await propfind('/folder', '1')).text).toContain('</D:multistatus>')
      expect((await opened.ask('HEAD', '/folder/c.txt')).headers['last-modified']).not.toContain('Invalid')
    }
  })

  it('tells names alone', async () => {
    const { text } = await propfind('/folder/a.txt', '0', '<propfind xmlns="DAV:"><propname/></propfind>')
    expect(text).toContain('<D:getetag/>')
  })

  it.each([
    ['no XML', 'hello'],
    ['a document type', '<!DOCTYPE x [<!ENTITY a "b">]><propfind xmlns="DAV:"><allprop/></propfind>'],
    ['an entity', '<propfind xmlns="DAV:"><prop><a>&lol;</a></prop></propfind>'],
    ['an external entity', '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'],
    ['a namespace nobody declared', '<propfind xmlns="DAV:"><prop><y:a/></prop></propfind>'],
    ['another element', '<lockinfo xmlns="DAV:"/>'],
    ['what is nested too deeply', `${'<a>'.repeat(50)}${'</a>'.repeat(50)}`],
  ])('with %s in its body is 400', async (_what, body) => {
    expect((await propfind('/folder', '0', body)).status).toBe(400)
  })

  it('with a body beyond all measure is 413', async () => {
    expect((await propfind('/folder', '0', ' '.repeat(100_000))).status).toBe(413)
  })
})

describe('PROPPATCH', () => {
  const set = '<set><prop><x:colour shade="&lt;dark&gt;"><x:of>red &amp; blue</x:of></x:colour></prop></set>'

  it('keeps what a client sets, as it was set, also when the drive is opened anew', async () => {
    expect((await patch('/folder/a.txt', set)).text).toContain('200')
    await opened.reopen()
    const { text } = await propfind('/folder/a.txt', '0', asking('<x:colour/>'))
    expect(text).toContain('shade="&lt;dark&gt;"')
    expect(text).toContain('red &amp; blue')
  })

  it('is followed by MOVE, COPY and DELETE', async () => {
    const names = asking('<x:colour/>')
    await patch('/folder/c.txt', set)
    await opened.ask('COPY', '/folder/c.txt', { headers: { destination: '/folder/copy.txt' } })
    await opened.ask('MOVE', '/folder/c.txt', { headers: { destination: '/folder/moved.txt' } })
    await opened.ask('PUT', '/folder/c.txt', { body: 'another' })
    expect((await propfind('/folder/copy.txt', '0', names)).text).toContain('red')
    expect((await propfind('/folder/moved.txt', '0', names)).text).toContain('red')
    expect((await propfind('/folder/c.txt', '0', names)).text).not.toContain('red')
    await opened.ask('DELETE', '/folder/moved.txt')
    await opened.ask('PUT', '/folder/moved.txt', { body: 'another' })
    expect((await propfind('/folder/moved.txt', '0', names)).text).not.toContain('red')
  })

  it('changes all or nothing, and no property of the drive', async () => {
    const change = '<set><prop><x:size>1</x:size></prop></set><remove><prop><getetag/></prop></remove>'
    const { status, text } = await patch('/folder/b.pdf', change)
    expect(status).toBe(207)
    expect(text).toMatch(/424.*403.*cannot-modify-protected-property/s)
    expect((await propfind('/folder/b.pdf', '0', asking('<x:size/>'))).text).toContain('404')
  })

  it('takes what Windows says of a file, and its time', async () => {
    const time = 'Fri, 14 Jul 2017 02:40:00 GMT'
    const change = `<set><prop><w:Win32LastModifiedTime>${time}</w:Win32LastModifiedTime>
      <w:Win32FileAttributes>00000020</w:Win32FileAttributes></prop></set>`
    const { status, text } = await patch('/folder/b.pdf', change)
    expect({ status, text }).toMatchObject({ status: 207, text: expect.not.stringContaining('403') })
    expect((await opened.ask('HEAD', '/folder/b.pdf')).headers['last-modified']).toBe(time)
  })

  it('has room for 64 KiB a resource', async () => {
    const change = (name: string): string =>
      `<set><prop><x:${name}>${'y'.repeat(50_000)}</x:${name}></prop></set>`
    expect((await patch('/folder/a.txt', change('one'))).status).toBe(207)
    expect((await patch('/folder/a.txt', change('two'))).status).toBe(507)
  })
})
