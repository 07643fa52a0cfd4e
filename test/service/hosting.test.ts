// The service as its operator sees it: whether it is well, who did what, how busy it is, and how it ends.

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { userInfo } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import type { Log } from '../../src/log.ts'
import type { Admin } from '../../src/service/admin/admin.ts'
import { withAdmin } from '../../src/service/admin/reach-admin.ts'
import { type ServiceOptions, startService } from '../../src/service/index.ts'
import { isOnPostgres, storeOf } from '../support/store.ts'
import { type TestService, errorOf, files, startTestService } from './support.ts'

let service: TestService
afterEach(() => service.close())

interface Line {
  readonly [field: string]: unknown
}

function keepingLog(): { lines: Line[]; log: Log } {
  const lines: Line[] = []
  const keep = (fields: object, message: string): void => void lines.push({ ...fields, message })
  return { lines, log: { debug() {}, info: keep, warn: keep, error: keep } }
}

async function urlOf(path: string): Promise<string> {
  return ((await (await service.get(path)).json()) as { url: string }).url
}

const statusOf = async (path: string): Promise<number> =>
  (await fetch(`${service.service.baseUrl}${path}`)).status

/** An upload that has begun; `finish` sends the rest. */
async function beginUpload(path: string): Promise<{ answer: () => string; finish: () => void }> {
  const body = JSON.stringify({ mimetype: 'text/plain', filename: 'a', file_type: 'binary', file: 'QQ==' })
  const socket = connect(service.service.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  socket.on('error', () => undefined)
  await new Promise<void>((resolve) =>
    socket.write(
      `PUT /api${files(path)} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.key}\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
      () => resolve(),
    ),
  )
  await expect.poll(() => answer).toContain('100 Continue')
  return { answer: () => answer, finish: () => void socket.write(body) }
}

describe('a balancer', () => {
  test('is told without a key that the service is well and ready', async () => {
    service = await startTestService()
    for (const path of ['/health', '/ready']) expect([path, await statusOf(path)]).toEqual([path, 200])
  })

  // The second is more than a timer counts.
  test.each([20_000, 2 ** 32])(
    'is told at once that it ends, while an upload under way is finished (within %i ms)',
    async (drainMs) => {
      service = await startTestService({ drainMs })
      const upload = await beginUpload('/last.txt')
      const closed = service.service.close()
      expect(await statusOf('/health')).toBe(200)
      expect(await errorOf(await fetch(`${service.service.baseUrl}/ready`))).toMatchObject({ status: 503 })
      const late = await service.get('/')
      expect([late.headers.get('retry-after'), late.headers.get('connection')]).toEqual(['1', 'close'])
      expect(await errorOf(late)).toMatchObject({ status: 503 })
      upload.finish()
      await closed
      await expect.poll(upload.answer).toContain('HTTP/1.1 201 Created')
      const again = await startService(await storeOf(service.dataDir))
      const key = await again.createKey('acme')
      const found = await fetch(`${again.baseUrl}${files('/last.txt')}`, { headers: { 'x-api-key': key } })
      expect(found.status).toBe(200)
      await again.close()
    },
  )

  test('an upload that does not end is cut when its time is over', async () => {
    service = await startTestService({ drainMs: 50 })
    const upload = await beginUpload('/never.txt')
    await service.service.close()
    expect(upload.answer()).not.toContain('201')
  })
})

describe('the access log', () => {
  const start = async (options: Partial<ServiceOptions> = {}): Promise<Line[]> => {
    const { lines, log } = keepingLog()
    service = await startTestService({ accessLog: log, ...options })
    return lines
  }

  test('has a line per request: who, what, how long, how much', async () => {
    const lines = await start()
    await service.put('/a.txt', 'content')
    const answer = await service.get('/a.txt')
    await fetch(`${service.service.baseUrl}/projects`)
    expect(lines).toEqual([
      expect.objectContaining({
        method: 'PUT',
        path: '/api/projects/acme/files',
        document: '/a.txt',
        status: 201,
      }),
      {
        method: 'GET',
        path: '/api/projects/acme/files',
        document: '/a.txt',
        status: 200,
        ms: expect.any(Number),
        sent: expect.any(Number),
        received: expect.any(Number),
        key: expect.stringMatching(/^[0-9a-f]{12}$/),
        request: answer.headers.get('x-request-id'),
        address: '127.0.0.1',
        aborted: undefined,
        message: 'GET /api/projects/acme/files 200',
      },
      expect.objectContaining({ path: '/api/projects', status: 401, key: undefined }),
    ])
    expect(Number(lines[0]?.['received'])).toBeGreaterThan(100)
  })

  test('has neither keys nor signatures', async () => {
    const lines = await start()
    await service.put('/a.txt', 'content')
    const url = await urlOf('/a.txt')
    await fetch(url)
    await fetch(`${service.service.baseUrl}/projects?key=${service.key}`, {
      headers: { 'x-api-key': 'no key' },
    })
    const text = JSON.stringify(lines)
    expect(text).not.toContain(service.key)
    expect(text).not.toContain(new URL(url).searchParams.get('signature'))
    expect(text).not.toContain('no key')
  })

  test('shows the address a trusted proxy forwards for', async () => {
    const lines = await start({ trustProxy: ['127.0.0.1'] })
    await service.call('GET', '/projects', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(lines[0]).toMatchObject({ address: '203.0.113.9' })
  })

  test('of a download that was left says so', async () => {
    const lines = await start()
    await service.put('/large.txt', Buffer.alloc(30_000_000))
    const controller = new AbortController()
    const answer = await fetch(await urlOf('/large.txt'), { signal: controller.signal })
    await answer.body!.getReader().read()
    controller.abort()
    await expect
      .poll(() => lines.at(-1))
      .toMatchObject({ path: expect.stringContaining('/download/'), aborted: true })
    expect(Number(lines.at(-1)!['sent'])).toBeLessThan(30_000_000)
  })
})

test('the audit log has a line per change that was made, with who made it, and none for what was refused', async () => {
  const { lines, log } = keepingLog()
  service = await startTestService({ auditLog: log })
  // The line of the start itself.
  await expect.poll(() => lines.splice(0)).toMatchObject([{ change: 'project made', by: 'docmount serve' }])
  await service.put('/folder/a.txt', 'content')
  await service.put('/folder/a.txt', 'again')
  await service.get('/folder/a.txt')
  await service.delete('/folder')
  await service.delete('/folder')
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await (await service.call('POST', `/projects/acme/tables${path}`, init)).json()) as Record<
      string,
      string
    >
  }
  const { id } = await post('', { name: 'invoices', settings: { type: 'reconcile' } })
  await post(`/${id}/forward`, { type: 'data', data: [{ row_data: { a: 1 } }] })
  await post('/storage', {
    name: 'kept',
    document: { mimetype: 'text/plain', filename: 'b.txt', file_type: 'binary', file: 'QQ==' },
  })
  const who = {
    project: 'acme',
    key: expect.stringMatching(/^[0-9a-f]{12}$/),
    address: '127.0.0.1',
    request: expect.any(String),
  }
  expect(lines).toEqual([
    expect.objectContaining({
      ...who,
      change: 'stored',
      path: '/folder/a.txt',
      size: 7,
      mimetype: 'text/plain',
    }),
    expect.objectContaining({ ...who, change: 'deleted', path: '/folder' }),
    expect.objectContaining({ ...who, change: 'table created', table: 'invoices' }),
    expect.objectContaining({ ...who, change: 'forwarded', table: 'invoices', assets: 1 }),
    expect.objectContaining({
      ...who,
      change: 'stored in a table',
      table: 'kept',
      filename: 'b.txt',
      size: 1,
    }),
  ])
})

test('the audit log says where a copy by uri came from, and nothing of it that may be secret', async () => {
  const { lines, log } = keepingLog()
  service = await startTestService({ auditLog: log, allowPrivateUris: true })
  const host = createServer((_, answer) => void answer.end('fetched'))
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  await service.put('/folder/a.txt', 'content')
  const own = await urlOf('/folder/a.txt')
  const put = (path: string, document: object): Promise<Response> =>
    service.call('PUT', files(path), {
      body: JSON.stringify({ mimetype: 'text/plain', filename: 'a', ...document }),
      headers: { 'content-type': 'application/json' },
    })
  const foreign = `${origin}/hidden-path?signature=hidden-too`
  await put('/own.txt', { file_type: 'uri', file: own })
  await put('/foreign.txt', { file_type: 'uri', file: foreign })
  const parts = [own, foreign].map((content) => ({
    file: { mimetype: 'text/plain', file_type: 'uri', content },
  }))
  await put('/both.mht', { file_type: 'multipart', file: parts })
  host.closeAllConnections()
  host.close()
  const stored = lines.filter(({ change }) => change === 'stored')
  expect(stored.map(({ path, copied_from: from }) => [path, from])).toEqual([
    ['/folder/a.txt', undefined],
    ['/own.txt', ['acme/folder/a.txt']],
    ['/foreign.txt', [origin]],
    ['/both.mht', ['acme/folder/a.txt', origin]],
  ])
  expect(JSON.stringify(lines)).not.toMatch(/hidden|signature/)
})

describe('the audit log of administration', () => {
  const withAdminOf = async <Result>(work: (admin: Admin) => Promise<Result>): Promise<Result> => {
    let result: Result | undefined
    await withAdmin(await storeOf(service.dataDir), async (admin) => {
      result = await work(admin)
    })
    return result as Result
  }
  const administer = async (): Promise<object[]> => {
    const by = userInfo().username
    const first = await withAdminOf((admin) => admin.createProject('invoices'))
    const path = '/in'
    const wanted = { projects: ['acme', 'invoices'], name: 'scanner', isReadOnly: true, path }
    const second = await withAdminOf((admin) => admin.createKey(wanted))
    const third = await withAdminOf((admin) => admin.rotateKey(second.id, 0))
    await withAdminOf((admin) => admin.revokeKeys('acme', [third.id]))
    await expect(withAdminOf((admin) => admin.createProject('invoices'))).rejects.toThrow()
    await withAdminOf((admin) => admin.removeProject('invoices'))
    const access = 'read'
    return [
      { change: 'project made', by, project: 'invoices', keys: [first.id] },
      { change: 'key made', by, projects: wanted.projects, keys: [second.id], name: 'scanner', access, path },
      { change: 'key rotated', by, keys: [third.id], instead_of: second.id },
      { change: 'keys revoked', by, project: 'acme', keys: [third.id] },
      { change: 'project removed', by, project: 'invoices' },
    ].map((line) => expect.objectContaining({ ...line, at: expect.any(String), message: line.change }))
  }

  test('has a line per change that was made while it runs, with who made it', async () => {
    const { lines, log } = keepingLog()
    service = await startTestService({ auditLog: log })
    await expect.poll(() => lines.splice(0)).toHaveLength(1)
    const expected = await administer()
    await expect.poll(() => lines).toEqual(expected)
    expect(JSON.stringify(lines)).not.toContain('dmk_')
  })

  test('has those that were made while nobody served, once', async () => {
    service = await startTestService({ auditLog: keepingLog().log })
    await service.service.close()
    const expected = await administer()
    for (const times of [1, 0]) {
      const { lines, log } = keepingLog()
      const again = await startService({ ...(await storeOf(service.dataDir)), auditLog: log })
      if (times === 1) await expect.poll(() => lines).toEqual(expected)
      else {
        const key = await again.createKey('acme')
        await fetch(`${again.baseUrl}${files('/')}`, { method: 'DELETE', headers: { 'x-api-key': key } })
        expect(lines).toEqual([])
      }
      await again.close()
    }
  })

  test('has refused attempts by the id of their key: the first at once, those that follow as a number', async () => {
    const { lines, log } = keepingLog()
    service = await startTestService({ auditLog: log, projects: ['acme', 'other'] })
    await expect.poll(() => lines.splice(0)).toHaveLength(2)
    const { id, key } = await withAdminOf((admin) =>
      admin.createKey({ projects: ['acme'], isReadOnly: true }),
    )
    await expect.poll(() => lines.splice(0)).toHaveLength(1)
    const refused = (path: string, method: string, headers: Record<string, string>): Promise<Response> =>
      fetch(`${service.service.baseUrl}${path}`, { method, headers })
    for (let turn = 0; turn < 5; turn++) await refused(files('/secret.txt'), 'DELETE', { 'x-api-key': key })
    await refused('/projects/other/files', 'GET', { 'x-api-key': key })
    await refused('/projects', 'GET', { 'x-api-key': 'dmk_never_made' })
    await refused('/projects', 'GET', {})
    const line = { change: 'refused', address: '127.0.0.1', times: 1, request: expect.any(String) }
    const unknown = createHash('sha256').update('dmk_never_made').digest('hex').slice(0, 12)
    await expect
      .poll(() => lines)
      .toEqual(
        [
          { key: id, status: 403, method: 'DELETE', path: '/api/projects/acme/files' },
          { key: id, status: 401, method: 'GET', path: '/api/projects/other/files' },
          { key: unknown, status: 401, method: 'GET', path: '/api/projects' },
          { key: undefined, status: 401, method: 'GET', path: '/api/projects' },
        ].map((fields) => ({ ...line, ...fields, message: 'refused' })),
      )
    for (let number = 0; number < 300; number++)
      await refused('/projects', 'GET', { 'x-api-key': `dmk_${number}` })
    expect(lines.length).toBeLessThanOrEqual(100)
    await service.service.close()
    const told = lines.reduce((sum, { times }) => sum + Number(times), 0)
    expect(told).toBe(308)
    expect(lines.at(-1)).toMatchObject({ key: 'others', times: 204 })
    expect(JSON.stringify(lines)).not.toMatch(/dmk_|secret/)
  })
})

describe('metrics', () => {
  test('are read at an address of their own, and nowhere else', async () => {
    service = await startTestService({ metrics: { host: '127.0.0.1', port: 0 } })
    await service.put('/a.txt', 'content')
    await (await fetch(await urlOf('/a.txt'))).text()
    await service.get('/nothing.txt')
    expect(await statusOf('/metrics')).toBe(404)
    const url = service.service.metricsUrl!
    expect((await fetch(url.replace('/metrics', '/api/projects'))).status).toBe(404)
    const text = await (await fetch(url)).text()
    const files = 'endpoint="/api/projects/:project_name/files"'
    for (const line of [
      `docmount_requests_total{method="PUT",${files},status="201"} 1`,
      `docmount_requests_total{method="GET",${files},status="404"} 1`,
      'docmount_requests_total{method="GET",endpoint="/api/download/:node",status="200"} 1',
      `docmount_request_seconds_count{method="PUT",${files}} 1`,
      'docmount_project_requests_total{project="acme"} 4',
      'docmount_requests_under_way 0',
      'docmount_project_documents{project="acme"} 1',
      'docmount_project_bytes{project="acme"} 7',
    ])
      expect(text).toContain(`${line}\n`)
    for (const name of [
      'docmount_bytes_total{project="acme",direction="sent"}',
      'docmount_connections',
      `docmount_database_bytes{file="${isOnPostgres ? 'postgres' : 'service.db'}"}`,
      'docmount_disk_bytes{kind="free"}',
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
    ])
      expect(text).toContain(`\n${name} `)
    expect(text).not.toContain(service.key)
  })

  test('do not grow with what strangers ask for', async () => {
    service = await startTestService({ metrics: { host: '127.0.0.1', port: 0 } })
    for (let count = 0; count < 50; count++) await statusOf(`/nowhere/${count}`)
    const text = await (await fetch(service.service.metricsUrl!)).text()
    expect(text.match(/^docmount_requests_total\{/gm)).toHaveLength(1)
  })

  test('are not there unless asked for', async () => {
    service = await startTestService()
    expect(service.service.metricsUrl).toBeUndefined()
  })
})
