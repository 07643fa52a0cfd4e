// `docmount check --data`: names the documents whose content is damaged, also while the service runs.

import { createHash } from 'node:crypto'
import { open, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { checkFolder } from '../../src/service/check/check-folder.ts'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'
import { type TestService, documentOf, startTestService } from './support.ts'

let command: CompiledCommand
beforeAll(async () => {
  command = await compileCommand()
})
afterAll(() => command.remove())

let service: TestService
beforeEach(async () => {
  service = await startTestService()
})
afterEach(() => service.close())

const contentOf = (name: string, size: number): string => name.padEnd(size, '.')
const digestOf = (content: string): string => createHash('sha256').update(content).digest('hex')
const fileOf = (content: string): string =>
  join(service.dataDir, 'blobs', digestOf(content).slice(0, 2), digestOf(content))

const names = ['whole', 'changed', 'cut', 'gone', 'twice']
async function store(): Promise<void> {
  for (const name of names)
    expect((await service.put(`/in/${name}.txt`, contentOf(name, 50_000))).status).toBe(201)
  await service.put('/twice again.txt', contentOf('twice', 50_000))
  for (const name of ['small', 'small and damaged']) await service.put(`/${name}.txt`, contentOf(name, 500))
  const document = { ...documentOf(contentOf('stored', 60_000)), filename: 'rows.csv' }
  await service.call('POST', '/projects/acme/tables/storage', {
    body: JSON.stringify({ name: 'kept', document }),
    headers: { 'content-type': 'application/json' },
  })
}

async function damage(): Promise<void> {
  for (const name of [
    contentOf('changed', 50_000),
    contentOf('twice', 50_000),
    contentOf('stored', 60_000),
  ]) {
    const handle = await open(fileOf(name), 'r+')
    await handle.write('damage', 40_000)
    await handle.close()
  }
  await truncate(fileOf(contentOf('cut', 50_000)), 10_000)
  await rm(fileOf(contentOf('gone', 50_000)))
  const database = new Libsql(join(service.dataDir, 'service.db'), { timeout: 30_000 })
  const set = database.prepare('update small_contents set bytes = ? where sha256 = ?')
  set.run(Buffer.from('damage'), digestOf(contentOf('small and damaged', 500)))
  database.close()
}

test('finds nothing where all is well, also while documents come and go', async () => {
  await store()
  expect(await checkFolder(service.dataDir)).toEqual({ documents: 9, contents: 8, findings: [] })
  const over = new AbortController()
  const work = (async (): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      await service.put(`/turn/${turn % 5}`, contentOf(String(turn), turn % 2 === 0 ? 100 : 40_000))
      await service.delete(`/turn/${(turn + 2) % 5}`)
    }
  })()
  for (let round = 0; round < 5; round++) expect((await checkFolder(service.dataDir)).findings).toEqual([])
  over.abort()
  await work
})

test('names every document whose content is changed, cut or gone, and exits with 1; the service runs on', async () => {
  await store()
  await damage()
  const run = await command.run('check', '--data', service.dataDir, '--json').catch((error: unknown) => error)
  const { code, stdout } = run as { code: number; stdout: string }
  const { findings } = JSON.parse(stdout) as { findings: string[] }
  expect([code, findings.toSorted()]).toEqual([
    1,
    [
      'content that is damaged: acme/in/changed.txt',
      'content that is damaged: acme/in/cut.txt',
      'content that is damaged: acme/in/twice.txt',
      'content that is damaged: acme/small and damaged.txt',
      'content that is damaged: acme/twice again.txt',
      'content that is damaged: acme: rows.csv',
      'content that is missing: acme/in/gone.txt',
    ],
  ])
  for (const name of ['changed', 'cut', 'gone', 'twice'])
    await service.put(`/repaired/${name}.txt`, contentOf(name, 50_000))
  await service.put('/repaired/small.txt', contentOf('small and damaged', 500))
  expect((await checkFolder(service.dataDir)).findings).toEqual(['content that is damaged: acme: rows.csv'])
  expect((await service.get('/in/whole.txt')).status).toBe(200)
})
