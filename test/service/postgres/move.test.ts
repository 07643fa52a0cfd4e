// `docmount migrate`: an embedded store moves while its service runs, and goes on wherever it was killed.

import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Service, startService } from '../../../src/service/index.ts'
import { moveStore } from '../../../src/service/move/move-store.ts'
import { MoveSource } from '../../../src/service/move/source.ts'
import { movedTables } from '../../../src/service/move/tables.ts'
import { checkStore } from '../../../src/service/store/postgres/check.ts'
import { ask, freshDatabase } from '../../support/postgres.ts'
import { type CompiledCommand, compileCommand } from '../compiled-command.ts'
import { documentOf, files } from '../support.ts'

type Database = Awaited<ReturnType<typeof freshDatabase>>

let folder: string
let dataDir: string
let place: { database: Database; dataDir?: string; blobs?: { url: string } }
let service: Service
let key: string
let kept: Map<string, string>

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function call(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${service.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function put(path: string, content: Uint8Array): Promise<void> {
  expect((await call('PUT', files(path), documentOf(content))).status).toBe(201)
  kept.set(path, hashOf(content))
}

interface Found {
  readonly url: string
  readonly modified_at: string
}
const find = async (path: string): Promise<Found> => (await (await call('GET', files(path))).json()) as Found

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-move-'))
  dataDir = join(folder, 'old')
  place = { database: await freshDatabase(), dataDir: join(folder, 'new') }
  kept = new Map()
  service = await startService({ dataDir, projects: ['acme'] })
  key = service.projects[0]!.apiKey!
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

async function expectMoved(): Promise<void> {
  service = await startService(place)
  for (const [path, hash] of kept) {
    const answer = await fetch((await find(path)).url)
    expect([path, answer.status, hashOf(Buffer.from(await answer.arrayBuffer()))]).toEqual([path, 200, hash])
  }
  expect((await checkStore(place)).findings).toEqual([])
}

test('everything moves: projects, keys, times, links, tables; and the old folder is served no more', async () => {
  for (const size of [0, 10, 32_769, 100_000]) await put(`/a/é/${size}.bin`, randomBytes(size))
  const stored = { name: 'papers', document: documentOf('a paper') }
  expect((await call('POST', '/projects/acme/tables/storage', stored)).status).toBe(201)
  const wanted = { name: 'rows', settings: { type: 'reconcile' } }
  const { id } = (await (await call('POST', '/projects/acme/tables', wanted)).json()) as { id: string }
  const data = [{ asset_name: 'ä', row_data: { number: 1, text: 'ß "x" \\' } }]
  expect((await call('POST', `/projects/acme/tables/${id}/forward`, { type: 'data', data })).ok).toBe(true)
  const tables = await (await call('GET', '/projects/acme/tables')).text()
  const before = await find('/a/é/100000.bin')

  expect(await moveStore(dataDir, place)).toMatchObject({ state: 'copied' })
  await put('/later.bin', randomBytes(50_000))
  await call('DELETE', files('/a/é/10.bin'))
  kept.delete('/a/é/10.bin')
  await service.close()
  expect(await moveStore(dataDir, place)).toMatchObject({
    state: 'moved',
    contents: 1,
    projects: 1,
    documents: 4,
  })
  // Once more changes nothing.
  expect(await moveStore(dataDir, place)).toMatchObject({ state: 'moved', contents: 0, documents: 4 })
  await expect(startService({ dataDir })).rejects.toThrow('has moved')

  await expectMoved()
  expect((await find('/a/é/100000.bin')).modified_at).toBe(before.modified_at)
  expect((await call('GET', files('/a/é/10.bin'))).status).toBe(404)
  expect(await (await call('GET', '/projects/acme/tables')).text()).toBe(tables)
  const link = new URL(before.url)
  link.port = String(service.port)
  expect(hashOf(Buffer.from(await (await fetch(link)).arrayBuffer()))).toBe(kept.get('/a/é/100000.bin'))
  await put('/a/é/new.bin', randomBytes(10))
  expect((await find('/a/é/new.bin')).modified_at > before.modified_at).toBe(true)
})

test('rows of megabytes move a few at a time: all of them are more than one text holds', async () => {
  const wanted = { name: 'rows', settings: { type: 'reconcile' } }
  const { id } = (await (await call('POST', '/projects/acme/tables', wanted)).json()) as { id: string }
  for (let index = 0; index < 15; index++) {
    const data = { text: `${index} `.repeat(1_000_000) }
    expect((await call('POST', `/projects/acme/tables/${id}/tasks`, { data })).status).toBe(201)
  }
  await service.close()
  const source = new MoveSource(dataDir)
  const runs = movedTables.find(({ name }) => name === 'runs')!
  let last = ''
  const pages = [...source.pageEnds(runs)].map((end) => {
    const rows = source.rows(runs, last, end)
    last = end
    return rows
  })
  source.close()
  expect(pages.flat()).toHaveLength(15)
  for (const rows of pages) expect(JSON.stringify(rows).length).toBeLessThan(24 * 1024 * 1024)
  expect(await moveStore(dataDir, place)).toMatchObject({ state: 'moved' })
  expect(await ask(place.database, 'select count(*)::int as count from runs')).toEqual([{ count: 15 }])
  await expectMoved()
})

test('what is damaged is named, and moves as it is; everything else moves', async () => {
  const contents = ['small', 'changed', 'missing', 'mended'].map((name) => [
    name,
    randomBytes(name === 'small' ? 100 : 100_000),
  ]) as [string, Buffer][]
  for (const [name, content] of contents) await put(`/${name}.txt`, content)
  await put('/again/changed.txt', contents[1]![1])
  await put('/whole.txt', randomBytes(100_000))
  const fileOf = (name: string): string => {
    const hash = kept.get(`/${name}.txt`)!
    return join(dataDir, 'blobs', hash.slice(0, 2), hash)
  }
  for (const name of ['changed', 'mended']) await writeFile(fileOf(name), 'damage', { flag: 'r+' })
  await rm(fileOf('missing'))
  const database = new Libsql(join(dataDir, 'service.db'))
  const damage = database.prepare('update small_contents set bytes = ? where sha256 = ?')
  damage.run([Buffer.from('damage'), kept.get('/small.txt')])
  database.close()

  const named = async (): Promise<unknown> =>
    (await moveStore(dataDir, place)).damaged
      ?.flatMap(({ kept_sha256, documents }) =>
        documents.map((name) => (kept_sha256 === undefined ? `${name} (cannot be read)` : name)),
      )
      .toSorted()
  const damaged = ['acme/again/changed.txt', 'acme/changed.txt']
  // Of what is missing nobody knows: it may have been deleted a moment ago.
  expect(await named()).toEqual([...damaged, 'acme/mended.txt', 'acme/small.txt'])
  await call('DELETE', files('/mended.txt'))
  await put('/mended.txt', contents[3]![1])
  await service.close()
  expect(await named()).toEqual([...damaged, 'acme/missing.txt (cannot be read)', 'acme/small.txt'])

  service = await startService(place)
  for (const name of ['again/changed', 'changed', 'missing', 'small']) {
    const { url } = await find(`/${name}.txt`)
    await expect(
      fetch(url).then(async (answer) =>
        answer.ok ? answer.arrayBuffer() : Promise.reject(new Error(await answer.text())),
      ),
    ).rejects.toThrow()
    kept.delete(`/${name}.txt`)
  }
  expect((await checkStore(place)).findings.toSorted()).toEqual([
    'content that is damaged: acme/again/changed.txt',
    'content that is damaged: acme/changed.txt',
    'content that is damaged: acme/small.txt',
    'content that is missing: acme/missing.txt',
  ])
  // The same bytes, stored again, mend it.
  for (const [name, content] of contents.slice(0, 3)) await put(`/mended/${name}.txt`, content)
  await service.close()
  await expectMoved()
})

test('a database that is in use is refused in words', async () => {
  const other = await startService({ ...place, projects: ['theirs'] })
  await expect(moveStore(dataDir, place)).rejects.toThrow('has projects already (theirs)')
  await other.close()
})

const s3 = process.env['DOCMOUNT_TEST_S3']

/** In a bucket instead of the folder; as `docmount migrate` takes it. */
function toBucket(): string[] {
  const engines = new URL('../../../scripts/engines', import.meta.url).pathname
  const { url, credentials } = JSON.parse(execFileSync(engines, ['start-s3', s3!], { encoding: 'utf8' })) as {
    url: string
    credentials: string
  }
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', credentials)
  const blobs = { url: url.replace('?', `/${randomUUID()}?`) }
  place = { database: place.database, blobs }
  return ['--blobs', blobs.url]
}

const destinations: [string, () => string[]][] = [['to a folder', () => ['--to', place.dataDir!]]]
if (s3 !== undefined) destinations.push(['to a bucket', toBucket])

test.each(destinations)(
  'killed anywhere on its way %s it goes on when it is run again',
  async (_, destination) => {
    for (let index = 0; index < 40; index++)
      await put(`/${index % 4}/${index}.bin`, randomBytes(index % 2 === 0 ? 100 : 40_000))
    const command: CompiledCommand = await compileCommand()
    const args = ['migrate', '--data', dataDir, '--database', place.database.url, ...destination(), '--json']
    const copied = async (): Promise<number> => {
      const [table] = await ask<{ name: string | null }>(
        place.database,
        `select to_regclass('blobs') as name`,
      )
      if (table?.name === null) return 0
      return (await ask<{ count: number }>(place.database, 'select count(*)::int as count from blobs'))[0]!
        .count
    }
    /** Ends it there, unless it is over by then. */
    const killWhen = async (isThere: () => Promise<boolean> | boolean): Promise<void> => {
      const child = spawn(process.execPath, [join(command.folder, 'dist/cli/main.js'), ...args], {
        stdio: 'ignore',
      })
      const ended = once(child, 'exit')
      while (child.exitCode === null && !(await isThere()))
        await new Promise((resolve) => setImmediate(resolve))
      child.kill('SIGKILL')
      await ended
    }
    await killWhen(async () => (await copied()) > 3)
    await killWhen(async () => (await copied()) > 20)
    await put('/late.bin', randomBytes(40_000))
    await service.close()
    await killWhen(() => existsSync(join(dataDir, 'service.moved')))
    // Whichever it is, nobody serves it: there would be two of it.
    await expect(startService({ dataDir })).rejects.toThrow(/has moved|on its way/)
    const moved = JSON.parse((await command.run(...args)).stdout) as object
    expect(moved).toMatchObject({ state: 'moved', projects: 1, documents: 41 })
    await command.remove()
    await expectMoved()
  },
)
