// Folders larger than what one statement should delete: gone at once for everybody, cleared by and by.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NodeRow, Store } from '../../src/service/store/database.ts'
import { findById, findByPath, listChildren } from '../../src/service/store/nodes.ts'
import { openEmbedded } from '../../src/service/store/open-embedded.ts'
import type { Commits } from '../../src/service/store/opened-store.ts'
import { ensureProject } from '../../src/service/store/projects.ts'
import { startTestService } from './support.ts'

let folder: string
let store: Store
let commits: Commits
let projectId: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-deletes-'))
  ;({ store, commits } = await openEmbedded(folder))
  projectId = (await ensureProject(store, 'acme', 0)).project.id
})
afterEach(async () => {
  await store.destroy()
  await rm(folder, { recursive: true })
})

async function create(path: string, content = path): Promise<NodeRow> {
  const file = { projectId, path, size: 1, mimetype: 'text/plain', blob: content }
  return commits.run('createFile', { file, now: 0 })
}

const remove = (path: string): ReturnType<typeof commits.run<'removeTree'>> =>
  commits.run('removeTree', { projectId, path, now: 0 })

async function namesIn(path: string): Promise<string[]> {
  const found = await findByPath(store, projectId, path)
  return found === undefined ? [] : (await listChildren(store, found.id, '', 10_000)).map((row) => row.name)
}

async function clearAll(): Promise<{ batches: number; blobs: string[] }> {
  const blobs: string[] = []
  for (let batches = 0; ; batches++) {
    const cleared = await commits.run('clearDetached', {})
    if (cleared === undefined) return { batches, blobs }
    expect(cleared.length).toBeLessThanOrEqual(1000)
    blobs.push(...cleared)
  }
}

const paths = (top: string): string[] =>
  Array.from({ length: 2_500 }, (_, at) => `${top}/${at % 3 === 0 ? 'deep/er/' : ''}${at}.txt`)

test('a deleted folder is gone at once, whatever its size, and is cleared in batches', async () => {
  const made = await Promise.all(paths('/a').map((path) => create(path)))
  await create('/a b/beside.txt')
  const removal = await remove('/a')
  expect(removal).toMatchObject({ kind: 'folder', isDetached: true })
  expect(await namesIn('/')).toEqual(['a b'])
  for (const path of ['/a', '/a/1.txt', '/a/deep', '/a/deep/er/0.txt', '/a/2499.txt']) {
    expect(await findByPath(store, projectId, path)).toBeUndefined()
  }
  for (const { id } of made) expect(await findById(store, id)).toBeUndefined()
  expect(await remove('/a/deep')).toMatchObject({ kind: undefined })

  const { batches, blobs } = await clearAll()
  expect(batches).toBeGreaterThan(1)
  expect([...removal.blobs, ...blobs].toSorted()).toEqual(paths('/a').toSorted())
  const rows = await store.selectFrom('nodes').select('path').orderBy('path').execute()
  expect(rows.map((row) => row.path)).toEqual(['/', '/a b', '/a b/beside.txt'])
  expect(await store.selectFrom('detached').selectAll().execute()).toEqual([])
})

test('what is uploaded below a deleted folder stays, also where the old still waits to be cleared', async () => {
  await Promise.all(paths('/a').map((path) => create(path)))
  await remove('/a')
  const again = ['/a/1.txt', '/a/deep/er/0.txt', '/a/deep/new.txt', '/a/2.txt/was a file.txt']
  for (const path of again) await create(path, `new ${path}`)
  await remove('/a/deep/new.txt')
  expect(await namesIn('/a')).toEqual(['1.txt', '2.txt', 'deep'])
  expect(await namesIn('/a/deep/er')).toEqual(['0.txt'])

  const { blobs } = await clearAll()
  expect(blobs.filter((blob) => blob.startsWith('new'))).toEqual([])
  const rows = await store.selectFrom('nodes').select('path').orderBy('path').execute()
  expect(rows.map((row) => row.path)).toEqual(
    ['/', '/a', '/a/1.txt', '/a/2.txt', '/a/2.txt/was a file.txt', '/a/deep', '/a/deep/er', '/a/deep/er/0.txt'],
  ) // prettier-ignore
})

test('a folder deleted again and again, and the folder it is in, leave nothing', async () => {
  for (const round of [1, 2]) {
    await Promise.all(paths('/a/b').map((path) => create(path, `${round} ${path}`)))
    expect(await remove('/a/b')).toMatchObject({ isDetached: true })
  }
  await Promise.all(paths('/a/b').map((path) => create(path, `3 ${path}`)))
  await remove('/a')
  expect(await namesIn('/')).toEqual([])
  await clearAll()
  expect(await store.selectFrom('nodes').select('path').execute()).toEqual([{ path: '/' }])
})

test('what a stop left uncleared is cleared after the next start', async () => {
  await Promise.all(paths('/a').map((path) => create(path)))
  await remove('/a')
  const service = await startTestService({ dataDir: folder })
  const rest = store.selectFrom('nodes').select((of) => of.fn.countAll<number>().as('count'))
  await expect.poll(async () => (await rest.executeTakeFirst())?.count).toBe(1)
  await service.service.close()
})
