// Another program has the database: a shell, a backup, VACUUM. Writers wait for it, readers do not, and afterwards
// nothing of it is left.

import { join } from 'node:path'
import { sql } from 'kysely'
import Libsql from 'libsql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openEmbedded } from '../../src/service/store/open-embedded.ts'
import { ensureProject } from '../../src/service/store/projects.ts'
import { type TestService, startTestService } from './support.ts'

let service: TestService
let other: Libsql.Database

beforeEach(async () => {
  service = await startTestService()
  // It waits for what the service notes after an answer: when a key was used, for one.
  other = new Libsql(join(service.dataDir, 'service.db'), { timeout: 30_000 })
})
afterEach(async () => {
  other.close()
  await service.close()
})

test('uploads and deletions wait for a program that writes, reads do not, and all goes on after it', async () => {
  await service.put('/there.txt', 'x')
  other.exec('begin immediate')
  const answered: string[] = []
  const note = (what: string) => (response: Response) => answered.push(`${what} ${response.status}`)
  const waiting = [
    service.put('/new.txt', 'x').then(note('PUT')),
    service.put('/large.txt', Buffer.alloc(100_000)).then(note('PUT')),
    service.delete('/there.txt').then(note('DELETE')),
    service
      .call('POST', '/projects/acme/tables', {
        body: JSON.stringify({ name: 'table' }),
        headers: { 'content-type': 'application/json' },
      })
      .then(note('POST')),
  ]
  for (let read = 0; read < 50; read++) {
    const answer = (await (await service.get('/there.txt')).json()) as { url: string }
    expect(await (await fetch(answer.url)).text()).toBe('x')
  }
  expect(answered).toEqual([])
  other.exec('commit')
  await Promise.all(waiting)
  expect(answered.toSorted()).toEqual(['DELETE 204', 'POST 201', 'PUT 201', 'PUT 201'])
  for (const round of [1, 2, 3]) {
    expect((await service.put(`/later-${round}.txt`, 'x')).status).toBe(201)
    expect((await service.delete(`/later-${round}.txt`)).status).toBe(204)
  }
})

test("every address that is read from answers while another program writes, the balancer's among them", async () => {
  const table = (await (
    await service.call('POST', '/projects/acme/tables', {
      body: JSON.stringify({ name: 'table' }),
      headers: { 'content-type': 'application/json' },
    })
  ).json()) as { id: string }
  await service.put('/there.txt', 'x')
  const { url } = (await (await service.get('/there.txt')).json()) as { url: string }
  other.exec('begin immediate')
  const link = new URL(url)
  for (const [path, status] of [
    ['/health', 200],
    ['/ready', 200],
    ['/docs', 200],
    ['/openapi.json', 200],
    ['/projects', 200],
    ['/projects/acme/files?path=/', 200],
    ['/projects/acme/files?path=/there.txt', 200],
    ['/projects/acme/files?path=/nothing.txt', 404],
    ['/projects/acme/tables', 200],
    [`/projects/acme/tables/${table.id}/schema`, 200],
    ['/projects/nobody/files', 401],
    [`${link.pathname.replace('/api', '')}${link.search}`, 200],
  ] as const)
    for (const method of ['GET', 'HEAD']) {
      const answer = await service.call(method, path)
      await answer.arrayBuffer()
      expect([method, path, answer.status]).toEqual([method, path, status])
    }
  expect((await service.call('GET', '/projects', { headers: { 'x-api-key': 'none' } })).status).toBe(401)
  other.exec('commit')
})

test('a service starts while another program writes, as soon as that lets go', async () => {
  await service.service.close()
  other.exec('begin immediate')
  const starting = startTestService({ dataDir: service.dataDir, projects: ['acme', 'second'] })
  await new Promise((resolve) => setImmediate(resolve))
  other.exec('commit')
  const again = await starting
  expect((await again.put('/new.txt', 'x')).status).toBe(201)
  await again.service.close()
})

test('a reader in the way of a checkpoint does not lock the service out of its own database', async () => {
  const { store, commits } = await openEmbedded(service.dataDir)
  const { project } = await ensureProject(store, 'third', 0)
  const readers = Array.from({ length: 20 }, () => new Libsql(join(service.dataDir, 'service.db')))
  for (const reader of readers) {
    // An open snapshot, then something newer that the checkpoint has to bring home.
    reader.exec('begin; select count(*) from nodes')
    const file = {
      projectId: project.id,
      path: `/${readers.indexOf(reader)}`,
      size: 0,
      mimetype: '',
      blob: 'x',
    }
    await commits.run('createFile', { file, now: 0 })
    await sql`pragma wal_checkpoint(truncate)`.execute(store).catch(() => undefined)
  }
  expect((await service.put('/new.txt', 'x')).status).toBe(201)
  for (const reader of readers) reader.close()
  await store.destroy()
})
