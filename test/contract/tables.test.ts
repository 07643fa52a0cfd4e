// The client against the service for tables: every success, every described failure, every field. All that passes between
// them is held against the OpenAPI document.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/api/client.ts'
import { InputError } from '../../src/api/errors.ts'
import type { StorageUpload, Tables } from '../../src/api/table-types.ts'
import { contentOf } from '../api/client-support.ts'
import { project } from '../support/service.ts'
import { type Contract, isOfAnyRequest, refusalOf, seenBy, startContract, tooLong } from './contract-setup.ts'

let contract: Contract
let tables: Tables

beforeAll(async () => {
  contract = await startContract()
  tables = contract.tables
})
afterEach(() => {
  contract.testService.service.faults.clear()
  expect(contract.witness.complaints).toEqual([])
})
afterAll(() => contract.close())

const once = { attempts: 1 }
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const anId = expect.stringMatching(uuid) as string
const aTime = expect.stringMatching(dateTime) as string

let count = 0
async function reconcileTable(): Promise<string> {
  const { id = '' } = await tables.create({ name: `table ${++count}`, settings: { type: 'reconcile' } })
  return id
}

function csv(content = 'code,qty\nO-1,\n', filename = 'rows.csv'): StorageUpload {
  return { mimetype: 'text/csv', filename, content: contentOf([Buffer.from(content)]) }
}

/** Stores a document and gives its id. */
async function stored(name: string, document: StorageUpload): Promise<string> {
  const { asset_ids: ids } = (await tables.createStorage(name, document)) as { asset_ids: string[] }
  return ids[0] ?? ''
}

describe('POST tables', () => {
  test('takes every field and answers every field', async () => {
    const id = randomUUID()
    const createdAt = '2024-02-03T04:05:06.000Z'
    const settings = { type: 'reconcile', note: 'kept' }
    const made = await tables.create({ name: 'ledger', id, createdAt, settings })
    expect(made).toEqual({ name: 'ledger', type: 'Reconcile', id, createdAt, settings })
  })

  test.each([
    ['extraction', 'Extraction'],
    ['reconcile', 'Reconcile'],
    ['storage', 'Storage'],
  ])('makes a table of kind %s', async (type, told) => {
    expect(await tables.create({ name: `of kind ${type}`, settings: { type } })).toMatchObject({ type: told })
  })

  test('refuses a taken name, a taken id, an unknown kind and a body too long', async () => {
    const { id = '' } = await tables.create({ name: 'taken' })
    expect(await refusalOf(tables.create({ name: 'taken' }))).toBe(409)
    expect(await refusalOf(tables.create({ name: 'other', id }))).toBe(409)
    expect(await refusalOf(tables.create({ name: 'other', settings: { type: 'nonsense' } }))).toBe(400)
    expect(await refusalOf(tables.create({ name: 'other', settings: { note: tooLong } }))).toBe(413)
  })
})

describe('GET tables', () => {
  test('answers every table with every field', async () => {
    const made = await tables.create({ name: 'listed' })
    expect(await tables.list()).toContainEqual(made)
    expect(made).toEqual({ name: 'listed', type: 'Extraction', id: anId, createdAt: aTime, settings: {} })
  })
})

describe('POST tables/storage', () => {
  test('stores a document, and answers the table and the document', async () => {
    expect(await tables.createStorage('stored', csv())).toEqual({
      name: 'stored',
      type: 'Storage',
      id: anId,
      created_at: aTime,
      settings: { type: 'storage', zero_retention_mode: false },
      assets_created: 1,
      asset_ids: [anId],
      message: 'rows.csv stored',
    })
  })

  test('takes a document by uri, in parts, and under zero retention', async () => {
    const file = await contract.files.upload('/source.csv', csv())
    const byUri = await stored('by uri', { ...csv(), content: { kind: 'uri', url: file.url ?? '' } })
    const parts = [{ text: 'code,qty' }]
    await stored('in parts', {
      mimetype: 'multipart/related',
      filename: 'm',
      content: { kind: 'multipart', parts },
    })
    const unkept = await stored('unkept', { ...csv(), zeroRetentionMode: true })
    const table = await reconcileTable()
    await tables.forward(table, [{ assetName: 'a', rowData: { code: 'O-1', qty: 3 } }])
    expect(await tables.reconcile(table, { files: [{ id: byUri }] })).toMatchObject({ status: 'done' })
    expect(await tables.reconcile(table, { files: [{ id: unkept }] })).toMatchObject({ status: 'error' })
  })

  test('refuses a taken name, a name too long and a document beyond its bounds', async () => {
    await tables.createStorage('storage taken', csv())
    expect(await refusalOf(tables.createStorage('storage taken', csv()))).toBe(409)
    expect(await refusalOf(tables.createStorage('n'.repeat(256), csv()))).toBe(400)
    expect(await refusalOf(tables.createStorage('long', csv('a\n', tooLong)))).toBe(413)
  })
})

describe('GET schema', () => {
  test('answers every field, of a schema that was given', async () => {
    const schema = {
      name: 'Invoices',
      fields: { no: { type: 'string' }, total: { type: 'number' } },
      description: 'what we owe',
      order: ['total', 'no'],
    }
    const { id = '' } = await tables.create({ name: 'with schema', settings: { type: 'reconcile', schema } })
    expect(await tables.schema(id)).toEqual({ ...schema, id })
  })

  test('answers every field, of a schema inferred from rows', async () => {
    const id = await reconcileTable()
    await tables.forward(id, [{ assetName: 'a', rowData: { no: 'I-1', paid: true } }])
    expect(await tables.schema(id)).toEqual({
      name: `table ${count}`,
      fields: { no: { type: 'string' }, paid: { type: 'boolean' } },
      id,
      description: expect.any(String) as string,
      order: ['no', 'paid'],
    })
  })
})

describe('POST forward', () => {
  test('makes an asset per item and answers every field', async () => {
    const id = await reconcileTable()
    const items = [
      { assetName: 'a', rowData: { code: 'O-1', nested: { list: [1, null] } } },
      { assetName: 'b', rowData: {} },
    ]
    expect(await tables.forward(id, items)).toEqual({
      assetsCreated: 2,
      assetIds: [anId, anId],
      message: `2 assets created in table ${count}`,
    })
  })

  test('needs at least one item: an empty list is not even sent, and the service would refuse it', async () => {
    const id = await reconcileTable()
    await expect(tables.forward(id, [])).rejects.toThrow(InputError)
    const answer = await fetch(`${contract.witness.baseUrl}/projects/${project}/tables/${id}/forward`, {
      method: 'POST',
      headers: { 'x-api-key': contract.testService.apiKey, 'content-type': 'application/json' },
      body: '{"type":"data","data":[]}',
    })
    expect(answer.status).toBe(400)
  })

  test('with one bad item makes none', async () => {
    const id = await reconcileTable()
    const items = [
      { assetName: 'good', rowData: { code: 'O-1' } },
      { assetName: 'bad', rowData: 'no object' as never },
    ]
    expect(await refusalOf(tables.forward(id, items))).toBe(400)
    expect((await tables.schema(id)).order).toEqual([])
  })
})

describe('POST reconcile', () => {
  test('echoes the input and answers every field', async () => {
    const id = await reconcileTable()
    await tables.forward(id, [
      { assetName: 'first', rowData: { code: 'O-1', qty: 3 } },
      { assetName: 'second', rowData: { code: 'O-2', qty: 4 } },
    ])
    const file = await stored('to match', csv())
    const input = { data: { code: ['o 2', 'none'], qty: [null, null] }, files: [{ id: file }] }
    expect(await tables.reconcile(id, input)).toEqual({
      data: { code: ['O-2', null], qty: [4, null], 'rows.csv': [{ code: 'O-1', qty: 3 }] },
      createdAt: aTime,
      rowId: anId,
      reasoning: expect.stringMatching(/second/) as string,
      review: { comment: '', reviewedBy: '', reviewDate: undefined, approved: false },
      status: 'done',
      input,
    })
  })

  test('takes single values', async () => {
    const id = await reconcileTable()
    await tables.forward(id, [{ assetName: 'a', rowData: { code: 'O-1' } }])
    expect((await tables.reconcile(id, { data: { code: 'O-1' } })).data).toEqual({ code: 'O-1' })
  })

  test('can be given up', async () => {
    const id = await reconcileTable()
    contract.testService.service.faults.inject({ kind: 'latency', ms: 20_000 }, { endpoint: 'tables' })
    const giveUp = new AbortController()
    const waiting = tables.reconcile(id, { data: { a: 1 } }, { signal: giveUp.signal })
    giveUp.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await expect(tables.reconcile(id, { data: { a: 1 } }, { deadlineMs: 50 })).rejects.toMatchObject({
      name: 'NetworkError',
      kind: 'deadline',
    })
  })
})

describe('POST tasks', () => {
  test('answers an id, and runs nothing', async () => {
    const id = await reconcileTable()
    expect(await tables.createTask(id, { data: { code: 'O-1' } })).toMatch(uuid)
    expect(await tables.createTask(id, { files: [{ id: await stored('for a task', csv()) }] })).toMatch(uuid)
  })
})

describe.each([
  ['reconcile', (of: Tables, id: string, data: object) => of.reconcile(id, { data: { ...data } }, once)],
  ['tasks', (of: Tables, id: string, data: object) => of.createTask(id, { data: { ...data } }, once)],
  [
    'forward',
    (of: Tables, id: string, data: object) =>
      of.forward(id, [{ assetName: 'a', rowData: { ...data } }], once),
  ],
] as const)('POST %s', (name, make) => {
  test('refuses a table of another kind, and a body too long', async () => {
    const { id = '' } = await tables.create({ name: `plain for ${name}` })
    expect(await refusalOf(make(tables, id, { a: 1 }))).toBe(400)
    expect(await refusalOf(make(tables, await reconcileTable(), { a: tooLong }))).toBe(413)
  })
})

describe.each([
  ['reconcile', (id: string, input: object) => tables.reconcile(id, input)],
  ['tasks', (id: string, input: object) => tables.createTask(id, input)],
] as const)('POST %s', (_name, make) => {
  test('refuses an input with nothing in it, and a file nobody stored', async () => {
    const id = await reconcileTable()
    expect(await refusalOf(make(id, {}))).toBe(400)
    expect(await refusalOf(make(id, { files: [{ id: randomUUID() }] }))).toBe(400)
  })
})

const nobody = randomUUID()
const ofTable: readonly (readonly [string, (of: Tables) => Promise<unknown>])[] = [
  ['GET schema', (of) => of.schema(nobody, once)],
  ['POST reconcile', (of) => of.reconcile(nobody, { data: { a: 1 } }, once)],
  ['POST tasks', (of) => of.createTask(nobody, { data: { a: 1 } }, once)],
  ['POST forward', (of) => of.forward(nobody, [{ assetName: 'a', rowData: {} }], once)],
]
const ofProject: readonly (readonly [string, (of: Tables) => Promise<unknown>])[] = [
  ['GET tables', (of) => of.list(once)],
  ['POST tables', (of) => of.create({ name: 'never' }, once)],
  ['POST tables/storage', (of) => of.createStorage('never', csv(), once)],
  ...ofTable,
]

test.each(ofTable)('%s of a table nobody made is a 404', async (_endpoint, make) => {
  expect(await refusalOf(make(tables))).toBe(404)
})

describe.each(ofProject)('%s', (_endpoint, make) => {
  const from = (client: Client, name = project): Tables => client.tables(name)

  test('with a key the service does not know is a 401', async () => {
    expect(await refusalOf(make(from(contract.stranger)))).toBe(401)
  })

  test('with a key that may not is a 403', async () => {
    const { testService, witness } = contract
    const apiKey = await testService.service.createKey(project, { path: '/elsewhere' })
    const client = createClient({ baseUrl: witness.baseUrl, apiKey })
    expect(await refusalOf(make(from(client)))).toBe(403)
    await client.close()
  })

  test('of a project that does not exist is a 401', async () => {
    expect(await refusalOf(make(from(contract.client, 'nosuch')))).toBe(401)
  })

  test('tells an unexpected failure as a 500', async () => {
    contract.testService.service.faults.inject({ kind: 'status', status: 500 })
    expect(await refusalOf(make(tables))).toBe(500)
  })
})

test('every status described for these endpoints was seen here', () => {
  const seen = seenBy(contract.witness)
  const described = contract.witness.described.filter(
    (line) => line.includes('/tables') && !isOfAnyRequest(line),
  )
  expect(new Set(described.map((line) => line.slice(0, line.lastIndexOf(' ')))).size).toBe(7)
  // A listing has nothing that could be malformed but its path, which a client cannot send so; the same for a schema's. A project
  // that is removed between the look at the key and the commit is 404.
  const notToBeHad = [
    'GET /projects/{project_name}/tables 400',
    'POST /projects/{project_name}/tables 404',
    'GET /projects/{project_name}/tables/{table_id}/schema 400',
    'POST /projects/{project_name}/tables/storage 404',
  ]
  expect(described.filter((line) => !seen.has(line))).toEqual(notToBeHad)
})
