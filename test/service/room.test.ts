// Operators make room in a project that is full: tables, their documents and runs go, at once or by age.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Admin } from '../../src/service/admin/admin.ts'
import { withAdmin } from '../../src/service/admin/reach-admin.ts'
import type { Limits } from '../../src/service/index.ts'
import { isOnPostgres, storeOf } from '../support/store.ts'
import { type TestService, documentOf, errorOf, startTestService } from './support.ts'

let service: TestService
afterEach(() => service.close())

async function start(limits: Partial<Limits>): Promise<void> {
  service = await startTestService({ limits })
}

async function administer<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result> {
  let result: Result | undefined
  await withAdmin(await storeOf(service.dataDir), async (admin) => {
    result = await work(admin)
  })
  return result as Result
}

const post = (path: string, body: object): Promise<Response> =>
  service.call('POST', `/projects/acme/tables${path}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

async function makeTable(name: string): Promise<string> {
  const made = await post('', { name, settings: { type: 'reconcile' } })
  return ((await made.json()) as { id: string }).id
}

const tableNames = async (): Promise<string[]> => {
  const listed = await service.call('GET', '/projects/acme/tables')
  return ((await listed.json()) as { name: string }[]).map(({ name }) => name)
}

/** A task of some 20,000 bytes. */
const task = { data: { text: 'x'.repeat(20_000) } }

/** Makes tasks until the project has no room for another, nor for a document of that size. */
async function fill(table: string): Promise<number> {
  for (let count = 0; ; count++) {
    const { status } = await post(`/${table}/tasks`, task)
    if (status === 201) continue
    expect(status).toBe(507)
    expect(await errorOf(await service.put('/new.txt', 'y'.repeat(20_000)))).toMatchObject({ status: 507 })
    return count
  }
}

describe('a project that is full', () => {
  test('has room again when its runs are removed: of one table, of all, or old ones', async () => {
    await start({ projectBytes: 100_000 })
    const [first, second] = [await makeTable('first'), await makeTable('second')]
    await post(`/${second}/tasks`, task)
    const count = await fill(first)
    expect(await administer((admin) => admin.removeRuns('acme', { olderThanMs: 3_600_000 }))).toBe(0)
    expect(await administer((admin) => admin.removeRuns('acme', { table: 'first' }))).toBe(count)
    expect((await service.put('/new.txt', 'y'.repeat(20_000))).status).toBe(201)
    expect(await administer((admin) => admin.removeRuns('acme', {}))).toBe(1)
    expect((await tableNames()).toSorted()).toEqual(['first', 'second'])
  })

  test('has room again when a table is removed, with its rows, runs and documents, and no other is touched', async () => {
    await start({ projectBytes: 400_000 })
    const kept = await makeTable('kept')
    await post(`/${kept}/forward`, { type: 'data', data: [{ row_data: { nr: 'A-1' } }] })
    const table = await makeTable('doomed')
    const rows = Array.from({ length: 2_500 }, (_, nr) => ({ row_data: { nr } }))
    expect((await post(`/${table}/forward`, { type: 'data', data: rows })).status).toBe(201)
    const document = documentOf('z'.repeat(50_000))
    const stored = await post('/storage', { name: 'stored', document })
    const { id: storedId, asset_ids: assets } = (await stored.json()) as { id: string; asset_ids: string[] }
    await fill(table)
    await administer((admin) => admin.removeTable('acme', 'doomed'))
    expect((await post(`/${table}/tasks`, task)).status).toBe(404)
    expect(await tableNames()).toEqual(['kept', 'stored'])
    expect((await service.put('/new.txt', 'y'.repeat(200_000))).status).toBe(201)
    await administer((admin) => admin.removeTable('acme', storedId.toUpperCase()))
    expect(await errorOf(await post(`/${kept}/reconcile`, { files: [{ id: assets[0] }] }))).toMatchObject({
      status: 400,
    })
    const run = await (await post(`/${kept}/reconcile`, { data: { nr: 'A-1' } })).json()
    expect(run).toMatchObject({ status: 'done', data: { nr: 'A-1' } })
    await expect(administer((admin) => admin.removeTable('acme', 'doomed'))).rejects.toThrow(
      'acme has no table doomed',
    )
    // Contents that nodes share are swept later: `postgres/sweep.test.ts`.
    if (isOnPostgres) return
    const blobs = join(service.dataDir, 'blobs')
    await expect
      .poll(async () =>
        (await readdir(blobs, { recursive: true })).filter((name) => /[0-9a-f]{64}$/.test(name)),
      )
      .toHaveLength(1)
  })

  test('is given a table of the name of one that rows are forwarded to meanwhile', async () => {
    await start({})
    const table = await makeTable('busy')
    const data = Array.from({ length: 50 }, (_, nr) => ({ row_data: { nr } }))
    const seen = new Set<number>()
    const clients = Array.from({ length: 4 }, async () => {
      for (let status = 201; status === 201; seen.add(status))
        status = (await post(`/${table}/forward`, { type: 'data', data })).status
    })
    await expect.poll(() => seen.has(201)).toBe(true)
    await administer((admin) => admin.removeTable('acme', 'busy'))
    await Promise.all(clients)
    expect(seen).toEqual(new Set([201, 404]))
    expect((await post('', { name: 'busy' })).status).toBe(201)
  })
})

test('runs that are older than they are kept for are removed automatically', async () => {
  await start({ projectBytes: 50_000 })
  await fill(await makeTable('t'))
  await service.service.close()
  const limits = { projectBytes: 50_000, keepRunsMs: 1 }
  const again = await startTestService({ dataDir: service.dataDir, limits })
  await expect.poll(async () => (await again.put('/new.txt', 'y'.repeat(40_000))).status).toBe(201)
  await again.service.close()
})
