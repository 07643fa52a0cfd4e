// Findings of `docmount check --database`: the damage that was done, and none where all is well.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startService } from '../../../src/service/index.ts'
import { migrate } from '../../../src/service/store/migrate.ts'
import { checkStore } from '../../../src/service/store/postgres/check.ts'
import { migrations } from '../../../src/service/store/postgres/migrations.ts'
import { openPostgresReader } from '../../../src/service/store/postgres/open-postgres.ts'
import { ask, freshDatabase } from '../../support/postgres.ts'
import { type Nodes, startNodes } from './nodes.ts'

let nodes: Nodes
beforeEach(async () => {
  nodes = await startNodes()
  for (const size of [0, 10, 50_000, 200_000]) await nodes.one.put(`/a/b/${size}`, randomBytes(size))
  await nodes.two.put('/deleted', randomBytes(60_000))
  await nodes.two.delete('/deleted')
})
afterEach(() => nodes.close())

const check = async (): Promise<readonly string[]> => {
  const place = { database: nodes.database, dataDir: nodes.folder }
  return (await checkStore(place)).findings
}

async function objects(): Promise<string[]> {
  const folder = join(nodes.folder, 'blobs')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

test('nothing is found where all is well, also while documents come and go', async () => {
  expect(await check()).toEqual([])
  const over = new AbortController()
  const work = (async (): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      await nodes.one.put(`/turn/${turn % 5}/x`, randomBytes(turn % 2 === 0 ? 100 : 40_000))
      await nodes.two.delete(`/turn/${turn % 3}`)
    }
  })()
  for (let round = 0; round < 3; round++) expect(await check()).toEqual([])
  over.abort()
  await work
})

test('tables, rows and runs are counted, and what was there before they were is counted too', async () => {
  const database = await freshDatabase()
  const store = openPostgresReader({ database })
  await migrate(store, 'service', Object.fromEntries(Object.entries(migrations).slice(0, 4)))
  await store.destroy()
  await ask(
    database,
    `insert into projects values ('p', 'acme', 0, 0);
    insert into nodes values ('r', 'p', null, '/', '/', 'folder', 0);
    insert into tables values ('t', 'p', 'ä', 'reconcile', 0, '{"type":"reconcile"}', '[]', 1);
    insert into assets values ('a', 't', 0, 'row', '{}');
    insert into runs values ('q', 't', 'pending', 0, '{}', null, null)`,
  )
  const service = await startService({ dataDir: nodes.folder, database })
  const counted = async (): Promise<object[]> => ask(database, 'select documents, bytes from usage')
  expect(await counted()).toEqual([{ documents: '0', bytes: `${102 + 20 + 105 + 102}` }])
  const headers = { 'x-api-key': await service.createKey('acme'), 'content-type': 'application/json' }
  const data = [{ asset_name: 'é', row_data: {} }]
  const body = JSON.stringify({ type: 'data', data })
  const made = await fetch(`${service.baseUrl}/projects/acme/tables/t/forward`, {
    method: 'POST',
    headers,
    body,
  })
  expect([made.status, await made.text()]).toEqual([201, expect.anything()])
  expect((await checkStore({ database, dataDir: nodes.folder })).findings).toEqual([])
  await ask(database, 'delete from assets')
  expect(await counted()).toEqual([{ documents: '0', bytes: `${102 + 20 + 102}` }])
  await service.close()
})

test('content whose bytes are gone, or are others', async () => {
  const bySize = new Map<number, string>()
  for (const file of await objects()) bySize.set((await stat(file)).size, file)
  await rm(bySize.get(50_000)!)
  await writeFile(bySize.get(200_000)!, randomBytes(300_000))
  await nodes.ask("update blobs set bytes = 'others' where size = 10")
  expect((await check()).toSorted()).toEqual([
    'content that is damaged: acme/a/b/10',
    'content that is damaged: acme/a/b/200000',
    'content that is missing: acme/a/b/50000',
  ])
})

test('bytes without a row, once they are older than any node leaves them', async () => {
  const key = `ab${randomBytes(31).toString('hex')}`
  const file = join(nodes.folder, 'blobs/ab', key)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, 'left')
  expect(await check()).toEqual([])
  const old = new Date(Date.now() - 3 * 86_400_000)
  await utimes(file, old, old)
  expect(await check()).toEqual([`bytes without a row: ${key}`])
})

test('a node in no folder, content that stays for ever, a count that is wrong', async () => {
  await nodes.ask(`delete from nodes where path = '/a/b'`)
  await nodes.ask('update blobs set unreferenced_since = null')
  await nodes.ask('update usage set bytes = bytes + 1')
  const findings = await check()
  for (const size of [0, 10, 50_000, 200_000])
    expect(findings).toContain(`a node that is in no folder: /a/b/${size}`)
  expect(findings).toContainEqual(expect.stringMatching(/^content that nothing refers to/))
  expect(findings).toContainEqual(expect.stringMatching(/^a project that is counted wrongly/))
})
