// The client against the service: every endpoint below /tables, as the command line uses them.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/api/client.ts'
import type { Tables } from '../../src/api/table-types.ts'
import type { StorageUpload } from '../../src/api/table-types.ts'
import { type TestService, startTestService } from './support.ts'

let service: TestService
let client: Client
let tables: Tables

beforeAll(async () => {
  service = await startTestService()
  client = createClient({ baseUrl: service.service.baseUrl, apiKey: service.key })
  tables = client.tables('acme')
})
afterAll(async () => {
  await client.close()
  await service.close()
})

async function reconcileTable(name: string): Promise<string> {
  return (await tables.create({ name, settings: { type: 'reconcile' } })).id!
}

function csvUpload(content: string): StorageUpload {
  const bytes = Buffer.from(content)
  const open = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  return {
    mimetype: 'text/csv',
    filename: 'rows.csv',
    content: { kind: 'bytes', size: bytes.byteLength, open },
  }
}

test('creates and lists tables', async () => {
  const made = await tables.create({ name: 'ledger', settings: { type: 'reconcile', note: 'kept' } })
  expect(made).toMatchObject({
    name: 'ledger',
    type: 'Reconcile',
    settings: { type: 'reconcile', note: 'kept' },
  })
  expect(await tables.list()).toEqual([made])
})

test('forwards rows, and their schema can be read', async () => {
  const id = await reconcileTable('invoices')
  const answer = await tables.forward(id, [
    { assetName: 'March', rowData: { invoice: 'INV-1', total: 12.5 } },
  ])
  expect(answer).toMatchObject({ assetsCreated: 1, message: '1 asset created in invoices' })
  expect(await tables.schema(id)).toMatchObject({
    name: 'invoices',
    id,
    fields: { invoice: { type: 'string' }, total: { type: 'number' } },
    order: ['invoice', 'total'],
  })
})

test('stores a document and reconciles it together with data', async () => {
  const id = await reconcileTable('orders')
  await tables.forward(id, [{ assetName: 'a', rowData: { code: 'O-1', qty: 3 } }])
  const stored = (await tables.createStorage('uploads', csvUpload('code,qty\nO-1,\n'))) as {
    asset_ids: string[]
  }
  const result = await tables.reconcile(id, { data: { code: 'o 1' }, files: [{ id: stored.asset_ids[0]! }] })
  expect(result).toMatchObject({
    status: 'done',
    data: { code: 'O-1', 'rows.csv': [{ code: 'O-1', qty: 3 }] },
    review: { approved: false, comment: '', reviewedBy: '', reviewDate: undefined },
    input: { data: { code: 'o 1' } },
  })
  expect(result.reasoning).toMatch(/^2 of 2 items matched/)
})

test('makes a task', async () => {
  expect(await tables.createTask(await reconcileTable('later'), { data: { code: 'O-1' } })).toMatch(
    /^[0-9a-f-]{36}$/,
  )
})

test('throws what the service says when it refuses', async () => {
  const { id } = await tables.create({ name: 'plain' })
  await expect(tables.create({ name: 'plain' })).rejects.toMatchObject({ name: 'ApiError', status: 409 })
  await expect(tables.reconcile(id!, { data: { a: 1 } })).rejects.toMatchObject({ status: 400 })
  await expect(tables.schema('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ status: 404 })
})

test('sends nothing twice when an answer is lost: the rows are there once', async () => {
  const id = await reconcileTable('lossy')
  service.service.faults.inject({ kind: 'lost-answer' }, { endpoint: 'tables', method: 'POST', times: 1 })
  await expect(tables.forward(id, [{ assetName: 'a', rowData: { code: 'L-1' } }])).rejects.toMatchObject({
    kind: 'cut',
  })
  const result = await tables.reconcile(id, { data: { code: ['L-1', 'L-1'] } })
  expect(result.data).toEqual({ code: ['L-1', null] })
})
