import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import Libsql from 'libsql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Admin, WantedKey } from '../../src/service/admin/admin.ts'
import { withAdmin } from '../../src/service/admin/reach-admin.ts'
import { startService } from '../../src/service/index.ts'
import { Connection } from '../../src/service/store/connection.ts'
import { kyselyOver } from '../../src/service/store/dialect-local.ts'
import { migrate } from '../../src/service/store/migrate.ts'
import { migrations } from '../../src/service/store/migrations.ts'
import { writerPragmas } from '../../src/service/store/pragmas.ts'
import { ask } from '../support/postgres.ts'
import { isOnPostgres, storeOf } from '../support/store.ts'
import { type TestService, documentOf, files, startTestService } from './support.ts'

let service: TestService

beforeEach(async () => {
  service = await startTestService({ projects: ['acme', 'other'] })
})
afterEach(() => service.close())

async function administer<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result> {
  let result: Result | undefined
  await withAdmin(await storeOf(service.dataDir), async (admin) => {
    result = await work(admin)
  })
  return result as Result
}

const keyFor = async (wanted: WantedKey): Promise<string> =>
  (await administer((admin) => admin.createKey(wanted))).key

const statusOf = async (key: string, method: string, path: string, body?: object): Promise<number> => {
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const answer = await service.call(method, path, { ...init, headers })
  await answer.arrayBuffer()
  return answer.status
}

/** Files that uploads have begun to write. */
const begunFiles = async (): Promise<string[]> => readdir(join(service.dataDir, 'blobs', 'incoming'))

/** Contents that are kept, those of no document included. */
const keptContents = async (): Promise<string[]> => {
  const names = await readdir(join(service.dataDir, 'blobs'), { recursive: true })
  return names.filter((name) => /[0-9a-f]{64}$/.test(name))
}

/** A request that was let in, half of its body sent; the answer sends the rest, and resolves with what comes back. */
async function beginRequest(
  key: string,
  method: string,
  path: string,
  body: object,
): Promise<() => Promise<string>> {
  const text = JSON.stringify(body)
  const socket = connect(service.service.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  socket.write(
    `${method} /api/projects/doomed${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${text.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  await expect.poll(() => answer).toContain('100 Continue')
  answer = ''
  const half = Math.floor(text.length / 2)
  socket.write(text.slice(0, half))
  return async () => {
    socket.write(text.slice(half))
    await once(socket, 'close')
    return answer
  }
}

describe('a key', () => {
  test('that may only read changes nothing', async () => {
    await service.put('/a.txt', 'x')
    const key = await keyFor({ projects: ['acme'], isReadOnly: true })
    expect(await statusOf(key, 'GET', files('/a.txt'))).toBe(200)
    expect(await statusOf(key, 'PUT', files('/b.txt'), documentOf('x'))).toBe(403)
    expect(await statusOf(key, 'DELETE', files('/a.txt'))).toBe(403)
    expect(await statusOf(key, 'POST', '/projects/acme/tables', { name: 't' })).toBe(403)
    expect((await service.get('/a.txt')).status).toBe(200)
  })

  test('for a folder opens it and what is below, shows the way there, and nothing else', async () => {
    for (const path of ['/in/scans/a.txt', '/in/b.txt', '/inner.txt']) await service.put(path, 'x')
    const key = await keyFor({ projects: ['acme'], path: '/in/scans/' })
    expect(await statusOf(key, 'GET', files('/in/scans'))).toBe(200)
    expect(await statusOf(key, 'GET', files('/in/scans/a.txt'))).toBe(200)
    expect(await statusOf(key, 'PUT', files('/in/scans/c.txt'), documentOf('x'))).toBe(201)
    for (const path of ['/in/b.txt', '/inner.txt', '/in/scans2'])
      expect(await statusOf(key, 'GET', files(path))).toBe(403)
    expect(await statusOf(key, 'PUT', files('/d.txt'), documentOf('x'))).toBe(403)
    expect(await statusOf(key, 'DELETE', files('/in'))).toBe(403)
    expect(await statusOf(key, 'GET', '/projects/acme/tables')).toBe(403)
    const headers = { 'x-api-key': key }
    const root = await service.call('GET', files('/'), { headers })
    expect(await root.json()).toEqual({
      ftype: 'folder',
      name: '/',
      entries: [{ ftype: 'folder', name: 'in' }],
    })
    const above = await service.call('GET', files('/in'), { headers })
    expect(await above.json()).toMatchObject({ entries: [{ ftype: 'folder', name: 'scans' }] })
  })

  test('for one document shows the way there as far as it is there, and the document as what it is', async () => {
    const key = await keyFor({ projects: ['acme'], path: '/in/scans/a.txt' })
    const headers = { 'x-api-key': key }
    const look = async (path: string): Promise<unknown> => {
      const answer = await service.call('GET', files(path), { headers })
      return answer.status === 200 ? await answer.json() : answer.status
    }
    expect(await look('/')).toEqual({ ftype: 'folder', name: '/', entries: [] })
    expect([await look('/in'), await look('/in/scans'), await look('/in/scans/a.txt')]).toEqual([
      404, 404, 404,
    ])
    await service.put('/in/b.txt', 'x')
    expect(await look('/')).toMatchObject({ entries: [{ ftype: 'folder', name: 'in' }] })
    expect(await look('/in')).toEqual({ ftype: 'folder', name: 'in', entries: [] })
    await service.put('/in/scans/a.txt', 'content')
    expect(await look('/in/scans')).toMatchObject({
      name: 'scans',
      entries: [{ ftype: 'file', name: 'a.txt', size: 7, url: expect.any(String) }],
    })
  })

  test('opens several projects', async () => {
    const key = await keyFor({ projects: ['other', 'acme'] })
    const answer = await service.call('GET', '/projects', { headers: { 'x-api-key': key } })
    expect(((await answer.json()) as { name: string }[]).map(({ name }) => name)).toEqual(['acme', 'other'])
    for (const project of ['acme', 'other'])
      expect(await statusOf(key, 'GET', `/projects/${project}/files`)).toBe(200)
    await administer((admin) => admin.revokeKeys('acme', []))
    // Through the database, another node is told within a second.
    const acme = (): Promise<number> => statusOf(key, 'GET', '/projects/acme/files')
    if (isOnPostgres) await expect.poll(acme).toBe(401)
    expect(await acme()).toBe(401)
    expect(await statusOf(key, 'GET', '/projects/other/files')).toBe(200)
  })

  test('opens nothing from its expiry on', async () => {
    const key = await keyFor({ projects: ['acme'], expiresAt: Date.now() + 86_400_000 })
    expect(await statusOf(key, 'GET', files('/'))).toBe(200)
    const change = `update api_keys set expires_at = ${Date.now()} where expires_at is not null`
    const { database: shared } = await storeOf(service.dataDir)
    if (shared === undefined) {
      // The first use of the key is noted meanwhile: whoever writes too waits for that.
      const database = new Libsql(join(service.dataDir, 'service.db'), { timeout: 30_000 })
      database.exec(change)
      database.close()
    } else await ask(shared, change)
    // The service does not hear of it: what it knows of a key it asks for again within a second.
    await expect.poll(() => statusOf(key, 'GET', files('/'))).toBe(401)
  })

  test('is rotated: both open the same, then the old one ends', async () => {
    const wanted = { projects: ['acme'], name: 'scanner', path: '/in', isReadOnly: true }
    const old = await administer((admin) => admin.createKey(wanted))
    const next = await administer((admin) => admin.rotateKey(old.id, 3_600_000))
    for (const { key } of [old, next]) {
      expect(await statusOf(key, 'GET', files('/'))).toBe(200)
      expect(await statusOf(key, 'GET', files('/b.txt'))).toBe(403)
    }
    await administer((admin) => admin.rotateKey(next.id, 0))
    const withNext = (): Promise<number> => statusOf(next.key, 'GET', files('/'))
    if (isOnPostgres) await expect.poll(withNext).toBe(401)
    expect(await withNext()).toBe(401)
    expect(await statusOf(old.key, 'GET', files('/'))).toBe(200)
    const listed = await administer((admin) => admin.listKeys('acme'))
    expect(listed.filter(({ name }) => name === 'scanner')).toHaveLength(3)
    expect(JSON.stringify(listed)).not.toContain(old.key)
  })

  test('tells when it was last used', async () => {
    // Where nodes share a clock, this process knows it to some milliseconds.
    const before = Date.now() - 1_000
    const { id, key } = await administer((admin) => admin.createKey({ projects: ['acme'] }))
    const lastUse = async (): Promise<number | null | undefined> =>
      (await administer((admin) => admin.listKeys())).find((one) => one.id === id)?.last_used_at
    expect(await lastUse()).toBeNull()
    await statusOf(key, 'GET', files('/'))
    await expect.poll(lastUse).toBeGreaterThanOrEqual(before)
  })

  test.skipIf(isOnPostgres)('of a store of the version before opens what it opened', async () => {
    const dataDir = join(service.dataDir, 'before')
    await mkdir(dataDir)
    const store = kyselyOver(new Connection(join(dataDir, 'service.db'), { pragmas: writerPragmas }))
    const { '0001_files': first, '0002_detached': second } = migrations
    await migrate(store, 'service', { '0001_files': first!, '0002_detached': second! })
    const hash = createHash('sha256').update(service.key).digest('hex')
    await sql`insert into projects values ('p', 'acme', 1, 1)`.execute(store)
    await sql`insert into api_keys values (${hash.slice(0, 12)}, ${hash}, 'p', 1)`.execute(store)
    await store.destroy()
    const again = await startService({ dataDir })
    const answer = await fetch(`${again.baseUrl}/projects`, { headers: { 'x-api-key': service.key } })
    expect([answer.status, await answer.json()]).toMatchObject([200, [{ name: 'acme' }]])
    await again.close()
  })
})

describe('a request that was let in, its body still on its way', () => {
  // Of what comes, pieces of 1 MiB are written.
  const document = documentOf('x'.repeat(3_000_000))
  const content = Buffer.from('y'.repeat(1_200_000)).toString('base64')
  const part = { file: { mimetype: 'text/plain', file_type: 'binary', content } }
  const multipart = {
    mimetype: 'multipart/related',
    filename: 'a',
    file_type: 'multipart',
    file: [part, part],
  }
  const uploads: [string, string, object][] = [
    ['PUT', '/files?path=/late.txt', document],
    ['PUT', '/files?path=/late.mht', multipart],
    ['POST', '/tables/storage', { name: 'late', document }],
  ]

  test.each(uploads)(
    'is refused where its project is removed by then, and leaves nothing: %s %s',
    async (method, path, body) => {
      await administer((admin) => admin.createProject('doomed'))
      const { key } = await administer((admin) => admin.createKey({ projects: ['acme', 'doomed'] }))
      const finish = await beginRequest(key, method, path, body)
      await expect.poll(async () => (await begunFiles()).length).toBeGreaterThan(0)
      await administer((admin) => admin.removeProject('doomed'))
      // Through the database, another node is told within a second.
      if (isOnPostgres)
        await expect.poll(() => statusOf(key, 'GET', '/projects/doomed/files?path=/')).toBe(401)
      expect(await finish()).toMatch(/^HTTP\/1\.1 401 [^]*"errorMessage":/)
      await expect.poll(begunFiles).toEqual([])
      // Contents that nodes share are swept later: `postgres/sweep.test.ts`.
      if (!isOnPostgres) await expect.poll(keptContents).toEqual([])
      expect(await statusOf(key, 'GET', '/projects/acme/files?path=/')).toBe(200)
    },
  )

  test.each(uploads)(
    'is refused where its project has become full by then, and leaves nothing: %s %s',
    async (method, path, body) => {
      await service.close()
      service = await startTestService({ projects: ['acme', 'doomed'], limits: { projectBytes: 4_500_000 } })
      const { key } = await administer((admin) => admin.createKey({ projects: ['doomed'] }))
      const finish = await beginRequest(key, method, path, body)
      await expect.poll(async () => (await begunFiles()).length).toBeGreaterThan(0)
      const other = documentOf('z'.repeat(2_000_000))
      expect(await statusOf(key, 'PUT', '/projects/doomed/files?path=/first.txt', other)).toBe(201)
      expect(await finish()).toMatch(/^HTTP\/1\.1 507 [^]*"errorMessage":/)
      await expect.poll(begunFiles).toEqual([])
      if (!isOnPostgres) await expect.poll(keptContents).toHaveLength(1)
      const listed = await service.call('GET', '/projects/doomed/files?path=/', {
        headers: { 'x-api-key': key },
      })
      expect(JSON.stringify(await listed.json())).not.toContain('late')
      const tables = await service.call('GET', '/projects/doomed/tables', { headers: { 'x-api-key': key } })
      expect(await tables.json()).toEqual([])
      expect(await statusOf(key, 'DELETE', '/projects/doomed/files?path=/first.txt')).toBe(204)
      expect(await statusOf(key, method, `/projects/doomed${path}`, body)).toBe(201)
    },
  )

  test.each([...uploads, ['POST', '/tables', { name: 'late' }]] as [string, string, object][])(
    'is refused where its key is revoked by then: %s %s',
    async (method, path, body) => {
      const { key, id } = await administer((admin) => admin.createProject('doomed'))
      const finish = await beginRequest(key, method, path, body)
      await administer((admin) => admin.revokeKeys('doomed', [id]))
      // Through the database, another node is told within a second.
      if (isOnPostgres) await expect.poll(() => statusOf(key, 'GET', '/projects')).toBe(401)
      expect(await finish()).toMatch(/^HTTP\/1\.1 401 [^]*"errorMessage":/)
      const { key: other } = await administer((admin) => admin.createKey({ projects: ['doomed'] }))
      expect(await statusOf(other, 'GET', '/projects/doomed/files?path=/late.txt')).toBe(404)
      const tables = await service.call('GET', '/projects/doomed/tables', { headers: { 'x-api-key': other } })
      expect(await tables.json()).toEqual([])
      await expect.poll(begunFiles).toEqual([])
    },
  )

  test('is refused where its key is revoked while the uri of it is fetched', async () => {
    await service.close()
    service = await startTestService({ projects: ['acme', 'doomed'], allowPrivateUris: true })
    const made = await administer((admin) => admin.createKey({ projects: ['doomed'] }))
    let goOn = (): void => {}
    const asked = new Promise<void>((resolve) => {
      const host = createServer((_, answer) => {
        goOn = () => void answer.end('fetched', () => host.close())
        resolve()
      }).listen(0, '127.0.0.1', () => {
        const file = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`
        const body = { mimetype: 'text/plain', filename: 'a', file_type: 'uri', file }
        status = statusOf(made.key, 'PUT', '/projects/doomed/files?path=/late.txt', body)
      })
    })
    let status = Promise.resolve(0)
    await asked
    await administer((admin) => admin.revokeKeys('doomed', [made.id]))
    if (isOnPostgres) await expect.poll(() => statusOf(made.key, 'GET', '/projects')).toBe(401)
    goOn()
    expect(await status).toBe(401)
  })
})

describe('administration', () => {
  test.skipIf(isOnPostgres)(
    'goes through a socket in the data folder that only its owner may open',
    async () => {
      const { mode } = await stat(join(service.dataDir, 'service.sock'))
      expect(mode & 0o777).toBe(0o600)
      expect((await stat(service.dataDir)).mode & 0o777).toBe(0o700)
      await service.service.close()
      expect(await readdir(service.dataDir)).not.toContain('service.sock')
    },
  )

  test('says what is wrong in one sentence', async () => {
    const refused = (work: (admin: Admin) => Promise<unknown>): Promise<unknown> =>
      expect(administer(work)).rejects.toMatchObject({ name: 'AdminError' })
    await refused((admin) => admin.createKey({ projects: ['nobody'] }))
    await refused((admin) => admin.createKey({ projects: ['acme'], path: '/a/../b' }))
    await refused((admin) => admin.createKey({ projects: ['acme'], expiresAt: 1 }))
    // A variable that is not set, a time no list could show, what a terminal would carry out.
    for (const path of ['', '//']) await refused((admin) => admin.createKey({ projects: ['acme'], path }))
    await refused((admin) => admin.createKey({ projects: ['acme'], expiresAt: 8.64e18 }))
    await refused((admin) => admin.createKey({ projects: ['acme'], name: '\x1b[2J' }))
    await refused((admin) => admin.createKey({ projects: ['acme'], name: 'n'.repeat(256) }))
    const [known] = await administer((admin) => admin.listKeys('acme'))
    await refused((admin) => admin.rotateKey(known!.id, 8.64e18))
    await refused((admin) => admin.rotateKey('none', 0))
    const short = await administer((admin) =>
      admin.createKey({ projects: ['acme'], expiresAt: Date.now() + 300 }),
    )
    await expect
      .poll(() =>
        administer((admin) => admin.rotateKey(short.id, 1_000)).then(
          () => '',
          (error: Error) => error.message,
        ),
      )
      .toMatch(/has expired/)
    await refused((admin) => admin.createProject('acme'))
    await refused((admin) => admin.createProject('a/b'))
    await refused((admin) => admin.removeProject('nobody'))
  })

  test('removes a project that others store into at the same time; who comes too late is told that it is gone', async () => {
    const { key } = await administer((admin) => admin.createProject('doomed'))
    const table = (await (
      await service.call('POST', '/projects/doomed/tables', {
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'r', settings: { type: 'reconcile' } }),
      })
    ).json()) as { id: string }
    const document = documentOf('x'.repeat(50_000))
    const begun = [
      await beginRequest(key, 'PUT', '/files?path=/late.txt', document),
      await beginRequest(key, 'POST', '/tables', { name: 'late' }),
      await beginRequest(key, 'POST', '/tables/storage', { name: 'stored', document }),
      await beginRequest(key, 'POST', `/tables/${table.id}/forward`, {
        type: 'data',
        data: [{ row_data: {} }],
      }),
      await beginRequest(key, 'POST', `/tables/${table.id}/tasks`, { data: { a: 1 } }),
    ]
    const seen = new Set<number>()
    const clients = Array.from({ length: 6 }, async (_, number) => {
      for (let turn = 0; ; turn++) {
        const path = number % 2 === 0 ? `/files?path=/${number}/${turn}/x.txt` : '/tables/storage'
        const body = number % 2 === 0 ? document : { name: `${number} ${turn}`, document }
        const status = await statusOf(key, number % 2 === 0 ? 'PUT' : 'POST', `/projects/doomed${path}`, body)
        seen.add(status)
        if (status === 401) return
      }
    })
    await expect.poll(() => seen.has(201)).toBe(true)
    await administer((admin) => admin.removeProject('doomed'))
    await Promise.all(clients)
    expect([...seen].filter((status) => ![201, 401, 404].includes(status))).toEqual([])
    // Through the database, the node hears of it within a second, and what is left of the project tells it.
    const refused = isOnPostgres
      ? /^HTTP\/1\.1 40[14] [^]*"errorMessage":/
      : /^HTTP\/1\.1 401 [^]*"errorMessage":/
    for (const finish of begun) expect(await finish()).toMatch(refused)
    expect((await administer((admin) => admin.listProjects())).map(({ name }) => name)).not.toContain(
      'doomed',
    )
  })

  test('removes a project with everything in it, and touches no other', async () => {
    const { key } = await administer((admin) => admin.createProject('doomed'))
    const call = (method: string, path: string, body: object): Promise<number> =>
      statusOf(key, method, `/projects/doomed${path}`, body)
    const shared = 'y'.repeat(100_000)
    await service.put('/shared.txt', shared)
    for (const path of ['/a.txt', '/b/c/d.txt'])
      expect(await call('PUT', `/files?path=${path}`, documentOf(path.repeat(20_000)))).toBe(201)
    expect(await call('PUT', '/files?path=/shared.txt', documentOf(shared))).toBe(201)
    const document = documentOf('a;b\n1;2\n', 'text/csv')
    expect(await call('POST', '/tables/storage', { name: 'stored', document })).toBe(201)
    expect(await call('POST', '/tables', { name: 'r', settings: { type: 'Reconcile' } })).toBe(201)
    await administer((admin) => admin.removeProject('doomed'))

    expect(await statusOf(key, 'GET', '/projects')).toBe(401)
    expect((await administer((admin) => admin.listProjects())).map(({ name }) => name)).toEqual([
      'acme',
      'other',
    ])
    expect((await service.get('/shared.txt')).status).toBe(200)
    const again = await administer((admin) => admin.createProject('doomed'))
    expect(await statusOf(again.key, 'GET', '/projects/doomed/files?path=/a.txt')).toBe(404)
    await service.service.close()
    // Contents that nodes share are swept later: `postgres/sweep.test.ts`.
    if (isOnPostgres) return
    const blobs = await readdir(join(service.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    expect(blobs.filter(({ name }) => /^[0-9a-f]{64}$/.test(name))).toHaveLength(1)
  })
})
