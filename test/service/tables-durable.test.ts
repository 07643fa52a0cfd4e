import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TablesStore, tablesStore } from '../../src/service/tables/database.ts'
import { openStore } from '../../src/service/store/open-store.ts'
import { isOnPostgres, storeOf } from '../support/store.ts'
import { type TestService, documentOf, startTestService } from './support.ts'

let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'docmount-tables-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

async function withService<Result>(use: (service: TestService) => Promise<Result>): Promise<Result> {
  const service = await startTestService({ dataDir })
  try {
    return await use(service)
  } finally {
    await service.close()
  }
}

async function withStore<Result>(use: (store: TablesStore) => Promise<Result>): Promise<Result> {
  const { store } = await openStore(await storeOf(dataDir))
  try {
    return await use(tablesStore(store))
  } finally {
    await store.destroy()
  }
}

async function post(service: TestService, path: string, body: unknown): Promise<Record<string, unknown>> {
  const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await service.call('POST', `/projects/acme/tables${path}`, init)
  return (await response.json()) as Record<string, unknown>
}

test('tables, assets and stored documents outlive a restart', async () => {
  const input = await withService(async (service) => {
    const { id } = await post(service, '', { name: 'ledger', settings: { type: 'reconcile' } })
    await post(service, `/${String(id)}/forward`, {
      type: 'data',
      data: [{ asset_name: 'one', row_data: { code: 'A-1' } }],
    })
    const document = { ...documentOf('code\nA-1\n', 'text/csv'), filename: 'a.csv' }
    const { asset_ids: documents } = await post(service, '/storage', { name: 'papers', document })
    return { table: String(id), files: (documents as string[]).map((id) => ({ id })) }
  })
  const answer = await withService((service) =>
    post(service, `/${input.table}/reconcile`, { files: input.files }),
  )
  expect(answer).toMatchObject({ status: 'done', data: { 'a.csv': [{ code: 'A-1' }] } })
})

test.each([1, 3000])('what a killed forward has left is in nobody’s way: %i more rows', async (count) => {
  const rows = Array.from({ length: count }, (_, at) => ({ row_data: { code: `C-${at}` } }))
  const id = await withService(async (service) => {
    const { id } = await post(service, '', { name: `cut short ${count}`, settings: { type: 'reconcile' } })
    await post(service, `/${String(id)}/forward`, { type: 'data', data: [{ row_data: { code: 'first' } }] })
    return String(id)
  })
  await withStore(async (store) => {
    for (let number = 1; number < 500; number++)
      await store
        .insertInto('assets')
        .values({
          id: randomUUID(),
          table_id: id,
          number,
          name: 'left',
          row_data: '{"code":"C-0","left":true}',
        })
        .execute()
  })
  const answer = await withService(async (service) => {
    const before = await post(service, `/${id}/reconcile`, { data: { code: 'C-0', asset_name: null } })
    expect(before).toMatchObject({ data: { asset_name: null } })
    const forwarded = await post(service, `/${id}/forward`, { type: 'data', data: rows })
    expect(forwarded['assets_created']).toBe(count)
    return post(service, `/${id}/reconcile`, { data: { code: ['first', 'C-0'], asset_name: [null, null] } })
  })
  expect(answer['data']).toEqual({ code: ['first', 'C-0'], asset_name: ['row 1', 'row 2'] })
  await withStore(async (store) => {
    const kept = await store.selectFrom('assets').select('number').where('table_id', '=', id).execute()
    expect(kept.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: count + 1 }, (_, at) => at),
    )
  })
})

test('a run is recorded under its row_id, a task under its task_id as pending', async () => {
  const [run, task] = await withService(async (service) => {
    const { id } = await post(service, '', { name: 'runs', settings: { type: 'reconcile' } })
    const data = { code: 'A-1' }
    return [
      await post(service, `/${String(id)}/reconcile`, { data }),
      await post(service, `/${String(id)}/tasks`, { data }),
    ]
  })
  const rows = await withStore((store) => store.selectFrom('runs').selectAll().execute())
  const recorded = rows.find((row) => row.id === run['row_id'])
  expect(recorded).toMatchObject({
    status: 'done',
    reasoning: run['reasoning'],
    input: '{"data":{"code":"A-1"}}',
    data: '{"code":null}',
  })
  const waiting = rows.find((row) => row.id === task['task_id'])
  expect(waiting).toMatchObject({
    status: 'pending',
    data: null,
    reasoning: null,
    input: '{"data":{"code":"A-1"}}',
  })
})

test.skipIf(isOnPostgres)(
  'zero retention leaves no byte of the document in the folder of the service',
  async () => {
    const secret = randomUUID()
    await withService((service) =>
      post(service, '/storage', {
        name: 'forgotten',
        document: {
          ...documentOf(`code\n${secret}\n`.repeat(20_000), 'text/csv'),
          zero_retention_mode: true,
        },
      }),
    )
    const row = await withStore((store) =>
      store.selectFrom('documents').selectAll().where('size', '>', 100_000).executeTakeFirstOrThrow(),
    )
    expect(row).toMatchObject({ blob: null, mimetype: 'text/csv', size: 840_000 })
    const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
    const kept = await Promise.all(
      entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name))),
    )
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.some((content) => content.includes(secret))).toBe(false)
  },
)
