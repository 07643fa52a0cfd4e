import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestService, documentOf, errorOf, files, startTestService } from './support.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const json = async (response: Response | Promise<Response>): Promise<unknown> => (await response).json()

const put = (path: string, body: unknown): Promise<Response> =>
  service.call('PUT', files(path), {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

async function namesIn(path: string): Promise<string[]> {
  const { entries } = (await json(service.get(path))) as { entries: { name: string }[] }
  return entries.map((entry) => entry.name)
}

describe('an upload', () => {
  test('answers 201 with a File, and its url leads to the bytes', async () => {
    const content = Buffer.from([0, 1, 2, 255, 254])
    const response = await service.put('/reports/2026/a.pdf', content, 'application/pdf')
    expect(response.status).toBe(201)
    const file = (await response.json()) as Record<string, string>
    expect(file).toMatchObject({ ftype: 'file', name: 'a.pdf', size: 5, mimetype: 'application/pdf' })
    expect(file['modified_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const download = await fetch(file['url']!)
    expect(download.headers.get('content-type')).toBe('application/pdf')
    expect(Buffer.from(await download.arrayBuffer())).toEqual(content)
  })

  test('takes a path without the leading slash', async () => {
    expect((await service.put('bare/b.txt', 'b')).status).toBe(201)
    expect((await service.get('/bare/b.txt')).status).toBe(200)
  })

  test('keeps an empty document', async () => {
    expect(await json(service.put('/empty.txt', ''))).toMatchObject({ size: 0 })
    const { url } = (await json(service.get('/empty.txt'))) as { url: string }
    const download = await fetch(url)
    expect([download.status, download.headers.get('content-length'), await download.text()]).toEqual([
      200,
      '0',
      '',
    ])
  })

  test('keeps names of any characters', async () => {
    for (const name of [
      'Prüfbericht (1) #2 & 100%.txt',
      '日本語.txt',
      "it's + more?.txt",
      'back\\slash.txt',
      '🙂.txt',
    ]) {
      expect((await service.put(`/names/${name}`, name)).status).toBe(201)
      expect(await json(service.get(`/names/${name}`))).toMatchObject({ name })
    }
  })

  test('to a taken path answers 409 and leaves the file as it was', async () => {
    await service.put('/taken.txt', 'first')
    expect(await errorOf(await service.put('/taken.txt', 'second'))).toEqual({
      status: 409,
      message: 'a file already exists at /taken.txt; delete it first',
    })
    const { url } = (await json(service.get('/taken.txt'))) as { url: string }
    expect(await (await fetch(url)).text()).toBe('first')
  })

  test('to a folder answers 409', async () => {
    await service.put('/some-folder/a.txt', 'a')
    expect(await errorOf(await service.put('/some-folder', 'b'))).toMatchObject({ status: 409 })
  })

  test('below a file answers 400', async () => {
    await service.put('/plain.txt', 'a')
    expect(await errorOf(await service.put('/plain.txt/below.txt', 'b'))).toEqual({
      status: 400,
      message: '/plain.txt is a file, not a folder',
    })
  })

  test('of 50 clients at once to one path succeeds exactly once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, client) => service.put('/race/winner.txt', `client ${client}`)),
    )
    const statuses = answers.map((answer) => answer.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(49)
    const { url } = (await json(service.get('/race/winner.txt'))) as { url: string }
    expect(await (await fetch(url)).text()).toBe(`client ${statuses.indexOf(201)}`)
  })

  test('that replaces a deleted file gets a later modified_at, each time', async () => {
    const times: string[] = []
    for (let round = 0; round < 20; round++) {
      const { modified_at } = (await json(service.put('/again.txt', 'same size'))) as { modified_at: string }
      times.push(modified_at)
      await service.delete('/again.txt')
    }
    expect([...new Set(times)].sort()).toEqual(times)
  })

  test.each([
    ['..', '/a/../b.txt'],
    ['..', '..'],
    ['.', '/a/./b.txt'],
    ['an empty name', '/a//b.txt'],
    ['an empty name', '/a/'],
    ['NUL', '/a\0b.txt'],
    ['the root', '/'],
    ['the root', ''],
  ])('with %s in the path is refused: %j', async (_, path) => {
    expect(await errorOf(await service.put(path, 'x'))).toMatchObject({ status: 400 })
  })

  test('without a path is refused', async () => {
    const answer = await service.call('PUT', '/projects/acme/files', {
      body: JSON.stringify(documentOf('x')),
    })
    expect(await errorOf(answer)).toMatchObject({ status: 400 })
  })

  test('with a path that is no UTF-8, or given twice, is refused', async () => {
    for (const query of ['path=%ff.txt', 'path=a%zz', 'path=/a.txt&path=/b.txt']) {
      const answer = await service.call('PUT', `/projects/acme/files?${query}`, {
        body: JSON.stringify(documentOf('x')),
      })
      expect(await errorOf(answer)).toMatchObject({ status: 400 })
    }
  })

  test.each([
    ['an unknown mimetype', { ...documentOf('x'), mimetype: 'application/zip' }, 'mimetype'],
    ['no mimetype', { filename: 'a', file_type: 'binary', file: '' }, 'mimetype'],
    ['no filename', { mimetype: 'text/plain', file_type: 'binary', file: '' }, 'filename'],
    ['an unknown file_type', { ...documentOf('x'), file_type: 'link' }, 'file_type'],
    ['no file', { mimetype: 'text/plain', filename: 'a', file_type: 'binary' }, 'file'],
    ['a number for a file', { ...documentOf('x'), file: 7 }, 'file'],
    ['parts for a binary', { ...documentOf('x'), file: [] }, 'file must be a string'],
    ['a string for parts', { ...documentOf('x'), file_type: 'multipart' }, 'file must be an array'],
    ['no URL for a uri', { ...documentOf('x'), file_type: 'uri', file: 'no url' }, 'not a URL'],
    ['bad base64', { ...documentOf('x'), file: 'a b*' }, 'not base64'],
    ['an array', [], 'object'],
    ['null', null, 'object'],
    ['bad JSON', '{"mimetype":', 'not JSON'],
    ['a cut string', '{"mimetype":"text/pl', 'cut short'],
    ['bytes that are no UTF-8', Buffer.from('7b2261223a22ff227d', 'hex').toString('latin1'), 'body'],
  ])('with %s is refused with a sentence about it', async (_, body, words) => {
    const answer = await errorOf(await put('/refused/x.txt', body))
    expect(answer).toMatchObject({ status: 400, message: expect.stringContaining(words) })
    expect((await service.get('/refused')).status).toBe(404)
  })

  test('without a body is refused', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await errorOf(await service.call('PUT', files('/refused/y.txt'), { headers }))
      expect(answer.status).toBe(400)
    }
  })

  test('takes fields it does not know', async () => {
    const body = { ...documentOf('x'), zero_retention_mode: true, colour: 'red' }
    expect((await put('/unknown-fields.txt', body)).status).toBe(201)
  })
})

describe('a read', () => {
  test('of a folder lists direct children in order, folders by name only', async () => {
    await service.put('/list/b.txt', 'bb')
    await service.put('/list/a/deep/er.txt', 'x')
    await service.put('/list/C.txt', 'ccc')
    const folder = (await json(service.get('/list'))) as { entries: object[] }
    expect(folder).toMatchObject({ ftype: 'folder', name: 'list' })
    expect(folder.entries).toEqual([
      expect.objectContaining({
        ftype: 'file',
        name: 'C.txt',
        size: 3,
        url: expect.stringContaining('signature='),
      }),
      { ftype: 'folder', name: 'a' },
      expect.objectContaining({ ftype: 'file', name: 'b.txt', size: 2, mimetype: 'text/plain' }),
    ])
  })

  test('without a path is of the root', async () => {
    await service.put('/at-root.txt', 'x')
    const answer = await json(service.call('GET', '/projects/acme/files'))
    expect(answer).toMatchObject({ ftype: 'folder' })
    expect(await json(service.get('/'))).toMatchObject({ ftype: 'folder', name: '/' })
    expect(await namesIn('/')).toContain('at-root.txt')
  })

  test('of nothing answers 404', async () => {
    expect(await errorOf(await service.get('/nowhere/x.txt'))).toEqual({
      status: 404,
      message: 'nothing at /nowhere/x.txt',
    })
    expect(await errorOf(await service.get('/at-root.txt/x'))).toMatchObject({ status: 404 })
  })

  test('of a folder of several pages lists every child once', async () => {
    const names = Array.from({ length: 2_050 }, (_, index) => `n${String(index).padStart(5, '0')}.txt`)
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => service.put(`/many/${name}`, 'x')))
    }
    expect(await namesIn('/many')).toEqual(names)
  })
})

describe('a deletion', () => {
  test('of a file answers 204, and its folder stays', async () => {
    await service.put('/stays/only.txt', 'x')
    const answer = await service.delete('/stays/only.txt')
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect((await service.get('/stays/only.txt')).status).toBe(404)
    expect(await namesIn('/stays')).toEqual([])
  })

  test('of a folder takes everything below it and nothing beside it', async () => {
    for (const path of [
      '/tree/a.txt',
      '/tree/b/c.txt',
      '/tree/b/d/e.txt',
      '/tree0/x.txt',
      '/tree-b/x.txt',
      '/tree.txt',
    ]) {
      await service.put(path, path)
    }
    expect((await service.delete('/tree')).status).toBe(204)
    for (const path of ['/tree', '/tree/a.txt', '/tree/b', '/tree/b/d/e.txt']) {
      expect((await service.get(path)).status).toBe(404)
    }
    for (const path of ['/tree0/x.txt', '/tree-b/x.txt', '/tree.txt']) {
      expect((await service.get(path)).status).toBe(200)
    }
  })

  test('of the root is refused', async () => {
    await service.put('/survivor.txt', 'x')
    for (const path of ['/', ''])
      expect(await errorOf(await service.delete(path))).toMatchObject({ status: 400 })
    expect((await service.get('/survivor.txt')).status).toBe(200)
  })

  test('without a path is refused', async () => {
    expect(await errorOf(await service.call('DELETE', '/projects/acme/files'))).toMatchObject({ status: 400 })
  })

  test('of nothing answers 404', async () => {
    expect(await errorOf(await service.delete('/nowhere'))).toMatchObject({ status: 404 })
  })

  test('with a content type and no body is a deletion like any other', async () => {
    await service.put('/typed.txt', 'x')
    const headers = { 'content-type': 'application/json' }
    expect((await service.call('DELETE', files('/typed.txt'), { headers })).status).toBe(204)
  })

  test('lets identical content elsewhere be', async () => {
    await service.put('/twins/one.txt', 'the same bytes')
    await service.put('/twins/two.txt', 'the same bytes')
    await service.delete('/twins/one.txt')
    const { url } = (await json(service.get('/twins/two.txt'))) as { url: string }
    expect(await (await fetch(url)).text()).toBe('the same bytes')
  })
})
