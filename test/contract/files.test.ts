// The client against the service for projects and files: every success, every described failure, every field. All that
// passes between them is held against the OpenAPI document.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { InputError } from '../../src/api/errors.ts'
import type { BytesContent, RemoteFile, Upload } from '../../src/api/types.ts'
import { collect, contentOf } from '../api/client-support.ts'
import { project } from '../support/service.ts'
import { type Contract, isOfAnyRequest, refusalOf, seenBy, startContract, tooLong } from './contract-setup.ts'

let contract: Contract

beforeAll(async () => {
  contract = await startContract()
})
afterEach(() => {
  contract.testService.service.faults.clear()
  expect(contract.witness.complaints).toEqual([])
})
afterAll(() => contract.close())

const once = { attempts: 1 }
const bytes = Buffer.from('item,price\npaper,4.50\n')
const content = (): BytesContent => contentOf([bytes])
const csv = (filename = 'a.csv'): Upload => ({ mimetype: 'text/csv', filename, content: content() })
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

async function contentAt(path: string): Promise<string> {
  const file = (await contract.files.get(path)) as RemoteFile
  const range = { offset: 0, length: file.size ?? 0 }
  return (await collect((await contract.files.download(file.url ?? '', path, range)).chunks)).toString()
}

describe('GET /projects', () => {
  test('answers the project of the key with every field', async () => {
    expect(await contract.client.projects()).toEqual([
      {
        id: expect.stringMatching(uuid) as string,
        name: project,
        createdAt: expect.stringMatching(dateTime) as string,
      },
    ])
  })
})

describe('PUT files', () => {
  test('answers a File with every field', async () => {
    expect(await contract.files.upload('/put/a.csv', csv())).toEqual({
      kind: 'file',
      name: 'a.csv',
      size: bytes.length,
      mimetype: 'text/csv',
      modifiedAt: expect.stringMatching(dateTime) as string,
      url: expect.stringMatching(/^http/) as string,
    })
    expect(await contentAt('/put/a.csv')).toBe(bytes.toString())
  })

  test('takes content as a signed URL', async () => {
    const { url = '' } = await contract.files.upload('/uri/a.csv', csv())
    await contract.files.upload('/uri/b.csv', { ...csv(), content: { kind: 'uri', url } })
    expect(await contentAt('/uri/b.csv')).toBe(bytes.toString())
  })

  test('takes content in parts: text, and a file in each of its two forms', async () => {
    const { url = '' } = await contract.files.upload('/parts/a.csv', csv())
    const parts = [
      { text: 'first' },
      { text: 'second', file: { mimetype: 'text/csv', file_type: 'binary' as const, content: 'eA==' } },
      { text: 'third', file: { mimetype: 'text/csv', file_type: 'uri' as const, content: url } },
    ]
    const upload: Upload = {
      mimetype: 'multipart/related',
      filename: 'm.eml',
      content: { kind: 'multipart', parts },
    }
    const stored = await contract.files.upload('/parts/m.eml', upload)
    expect(stored).toMatchObject({ kind: 'file', mimetype: 'multipart/related' })
    expect(stored.size).toBeGreaterThan(bytes.length)
  })

  test('takes every mimetype of the interface', async () => {
    const { mimetypes } = await import('../../src/api/mimetypes.ts')
    for (const [index, mimetype] of mimetypes.entries()) {
      if (mimetype === 'multipart/related') continue
      const stored = await contract.files.upload(`/types/${index}`, { ...csv(), mimetype })
      expect(stored.mimetype).toBe(mimetype)
    }
    expect(mimetypes).toHaveLength(17)
  })

  test('never replaces, and stores nothing that is refused', async () => {
    await contract.files.upload('/taken/a.csv', csv())
    expect(await refusalOf(contract.files.upload('/taken/a.csv', csv()))).toBe(409)
    expect(await refusalOf(contract.files.upload('/taken/a.csv/below.csv', csv()))).toBe(400)
    expect(await refusalOf(contract.files.upload('/long/a.csv', csv(tooLong)))).toBe(413)
    expect(await refusalOf(contract.files.get('/long'))).toBe(404)
  })

  test('with ".." in the path is not even sent', async () => {
    const before = contract.witness.exchanges.length
    await expect(contract.files.upload('/a/../b.csv', csv())).rejects.toThrow(InputError)
    expect(contract.witness.exchanges).toHaveLength(before)
  })
})

describe('GET files', () => {
  test('answers a folder with its direct children: files with all their fields, folders by name', async () => {
    const stored = await contract.files.upload('/list/a.csv', csv())
    await contract.files.upload('/list/below/deep/b.csv', csv('b.csv'))
    const listing = await contract.files.get('/list')
    expect(listing).toEqual({
      kind: 'folder',
      name: 'list',
      entries: [
        { ...stored, url: expect.stringMatching(/^http/) as string },
        { kind: 'folder', name: 'below' },
      ],
      odd: { leftOut: 0, repaired: 0 },
    })
  })

  test('answers the root as a folder', async () => {
    expect(await contract.files.get('/')).toMatchObject({ kind: 'folder' })
  })

  test('with a ".." the service sees is refused by it', async () => {
    const url = `${contract.witness.baseUrl}/projects/${project}/files?path=%2Fa%2F..%2Fb`
    const answer = await fetch(url, { headers: { 'x-api-key': contract.testService.apiKey } })
    expect(answer.status).toBe(400)
  })
})

describe('DELETE files', () => {
  test('takes a file, and a folder with everything in it', async () => {
    await contract.files.upload('/gone/a.csv', csv())
    await contract.files.upload('/gone/below/b.csv', csv('b.csv'))
    await contract.files.delete('/gone/a.csv')
    expect(await contract.files.get('/gone')).toMatchObject({ entries: [{ name: 'below' }] })
    await contract.files.delete('/gone')
    expect(await refusalOf(contract.files.get('/gone'))).toBe(404)
  })

  test('refuses the root, and what is not there', async () => {
    expect(await refusalOf(contract.files.delete('/'))).toBe(400)
    expect(await refusalOf(contract.files.delete('/nowhere'))).toBe(404)
    expect(await contract.files.get('/')).toMatchObject({ kind: 'folder' })
  })
})

interface Call {
  readonly endpoint: string
  readonly make: (from: Pick<Contract, 'client'>, projectName: string) => Promise<unknown>
}

const inProject: readonly Call[] = [
  { endpoint: 'PUT files', make: ({ client }, name) => client.files(name).upload('/x.csv', csv(), once) },
  { endpoint: 'GET files', make: ({ client }, name) => client.files(name).get('/x.csv', once) },
  { endpoint: 'DELETE files', make: ({ client }, name) => client.files(name).delete('/x.csv', once) },
]
const all: readonly Call[] = [
  { endpoint: 'GET /projects', make: ({ client }) => client.projects(once) },
  ...inProject,
]

describe.each(all)('$endpoint', ({ make }) => {
  test('with a key the service does not know is a 401', async () => {
    expect(await refusalOf(make({ client: contract.stranger }, project))).toBe(401)
  })

  test('tells an unexpected failure as a 500', async () => {
    contract.testService.service.faults.inject({ kind: 'status', status: 500 })
    expect(await refusalOf(make(contract, project))).toBe(500)
  })
})

test.each(inProject)(
  '$endpoint of a project that the key does not open, or that does not exist, is a 401',
  async ({ make }) => {
    expect(await refusalOf(make(contract, 'nosuch'))).toBe(401)
  },
)

test.each(inProject)('$endpoint with a key that may not is a 403', async ({ make }) => {
  const { testService, witness } = contract
  const apiKey = await testService.service.createKey(project, { access: 'read', path: '/elsewhere' })
  const client = createClient({ baseUrl: witness.baseUrl, apiKey })
  expect(await refusalOf(make({ client }, project))).toBe(403)
  await client.close()
})

test('every status described for these endpoints was seen here', () => {
  const seen = seenBy(contract.witness)
  const described = contract.witness.described.filter(
    (line) => /\/projects(\/\{project_name\}\/files)? /.test(line) && !isOfAnyRequest(line),
  )
  expect(described).toHaveLength(3 + 6 + 6 + 8)
  // Where a project is removed between the look at the key and the commit.
  const notToBeHad = ['PUT /projects/{project_name}/files 404']
  expect(described.filter((line) => !seen.has(line))).toEqual(notToBeHad)
})
