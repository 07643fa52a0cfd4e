// Reconciliations as large as anybody may ask for: others are served meanwhile, and what is too large is refused.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { openEmbedded } from '../../src/service/store/open-embedded.ts'
import { Matching } from '../../src/service/tables/matching.ts'
import { xlsxFile } from '../rows/xlsx-file.ts'
import { type CompiledCommand, type ServeProcess, compileCommand } from './compiled-command.ts'
import { type TestService, documentOf, errorOf, startTestService } from './support.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService({ projects: ['acme', 'other'] })
  await service.put('/a.txt', 'x')
})
afterAll(() => service.close())

const post = (path: string, body: object): Promise<Response> =>
  service.call('POST', `/projects/acme/tables${path}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

async function create(name: string, rows: readonly object[]): Promise<string> {
  const table = (await (await post('', { name, settings: { type: 'reconcile' } })).json()) as { id: string }
  const data = rows.map((row_data, at) => ({ asset_name: `row ${at}`, row_data }))
  if (rows.length > 0) expect((await post(`/${table.id}/forward`, { type: 'data', data })).status).toBe(201)
  return table.id
}

async function store(name: string, content: string | Uint8Array, mimetype: string): Promise<string> {
  const document = {
    mimetype,
    filename: name,
    file_type: 'binary',
    file: Buffer.from(content as string).toString('base64'),
  }
  const { asset_ids: ids } = (await (await post('/storage', { name, document })).json()) as {
    asset_ids: string[]
  }
  return ids[0]!
}

const execute = promisify(execFile)
const patience = { timeout: 100_000 }
const word = (at: number): string => `customer ${at.toString(36).padStart(4, 'q')} limited`

test('others are answered while a large run goes on', async () => {
  const id = await create(
    'many',
    Array.from({ length: 4_000 }, (_, at) => ({ vendor: word(at) })),
  )
  const key = await service.service.createKey('other')
  const vendor = Array.from({ length: 4_000 }, (_, at) => word(at).replace('customer', 'custmer'))
  const state = { isDone: false, answered: 0 }
  const run = post(`/${id}/reconcile`, { data: { vendor } }).then((answer) => {
    state.isDone = true
    return answer.json() as Promise<{ status: string }>
  })
  while (!state.isDone) {
    const answer = await service.call('GET', '/projects/other/files', { headers: { 'x-api-key': key } })
    expect(answer.status).toBe(200)
    if (!state.isDone) state.answered++
  }
  expect((await run).status).toBe('done')
  expect(state.answered).toBeGreaterThan(20)
})

test.each([
  ['rows.csv', 'text/csv', `n\n${'x\n\n'.repeat(6_000)}`],
  ['rows.json', 'application/json', JSON.stringify(Array.from({ length: 6_000 }, () => ({ n: 'x' })))],
])('a document of too many rows, %s, is refused', async (name, mimetype, content) => {
  const id = await create(`for ${name}`, [])
  const document = await store(name, content, mimetype)
  const { status, message } = await errorOf(await post(`/${id}/reconcile`, { files: [{ id: document }] }))
  expect([status, message]).toEqual([
    413,
    expect.stringMatching(/rows\.\w+: one run matches at most 5000 items/),
  ])
})

test.each([
  ['text.csv', `n\n${'x'.repeat(9 * 1024 * 1024)}\n`, 'at most 8388608 characters: split them'],
  [
    'wide.csv',
    `c${',c'.repeat(3_999)}\n`.concat(`x${',x'.repeat(3_999)}\n`.repeat(251)),
    'at most 1000000 cells',
  ],
])('a document of more than a run compares in time, %s, is refused', async (name, content, words) => {
  const id = await create(`for ${name}`, [{ n: 'A-1' }])
  const document = await store(name, content, 'text/csv')
  const { status, message } = await errorOf(await post(`/${id}/reconcile`, { files: [{ id: document }] }))
  expect([status, message]).toEqual([413, expect.stringContaining(words)])
})

test('a document with a value nested too deeply is refused with a sentence', async () => {
  const id = await create('deep', [{ code: 'A-1' }])
  const deep = `[{"code":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}]`
  const document = await store('deep.json', deep, 'application/json')
  expect(await errorOf(await post(`/${id}/reconcile`, { files: [{ id: document }] }))).toEqual({
    status: 413,
    message: 'a value is nested too deeply to be compared',
  })
})

test.each([
  ['deep', '<a>'.repeat(1_000_000), 'more than 256 elements within each other'],
  [
    'wide',
    `<row ${Array.from({ length: 100_000 }, (_, at) => `a${at}=""`).join(' ')}/>`,
    'an element with more than 256 attributes',
  ],
])('a workbook that is small and %s fails its run with a sentence', async (name, rows, message) => {
  const id = await create(`for ${name}`, [{ code: 'A-1' }])
  const file = `${name}.xlsx`
  const mimetype = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  const document = await store(file, xlsxFile({ rows }), mimetype)
  const run = await post(`/${id}/reconcile`, { files: [{ id: document }] })
  expect([run.status, await run.json()]).toEqual([
    200,
    expect.objectContaining({
      status: 'error',
      reasoning: `Not reconciled: ${file}: not a readable XLSX file: ${message}.`,
    }),
  ])
})

test('a document named ten times is read once', async () => {
  const id = await create('once', [{ code: 'A-1' }])
  const document = await store('once.csv', 'code\nA-1\n', 'text/csv')
  const files = Array.from({ length: 10 }, () => ({ id: document }))
  const answer = (await (await post(`/${id}/reconcile`, { files })).json()) as { data: object }
  expect(answer.data).toEqual({ 'once.csv': [{ code: 'A-1' }] })
})

test('an answer that one long value would make endless is refused, and nobody is held up', async () => {
  const id = await create('long', [{ code: 'ABC123456', notes: 'y'.repeat(3_500_000) }])
  const data = (lists: number): object =>
    Object.fromEntries(
      Array.from({ length: lists }, (_, at) => [`list ${at}`, [{ code: 'ABC123456', notes: '' }]]),
    )
  expect(await errorOf(await post(`/${id}/reconcile`, { data: data(1_000) }))).toEqual({
    status: 413,
    message: 'the answer would have more than 16 MiB: send several smaller ones',
  })
  const answer = (await (await post(`/${id}/reconcile`, { data: data(2) })).json()) as {
    data: Record<string, { notes: string }[]>
  }
  expect(answer.data['list 1']?.[0]?.notes).toHaveLength(3_500_000)
})

describe('the command', () => {
  let command: CompiledCommand
  let served: ServeProcess
  beforeEach(async () => {
    command = await compileCommand()
  })
  afterEach(async () => {
    served.process.kill('SIGKILL')
    await command.remove()
  })

  const start = async (...args: string[]): Promise<void> => {
    served = await command.serve('--data', join(command.folder, 'data'), '--project', 'acme', ...args)
  }
  const send = (method: string, path: string, body: object, key?: string): Promise<Response> => {
    const { base_url: url, projects } = served.announcement
    return fetch(`${url}/projects/acme${path}`, {
      method,
      headers: { 'x-api-key': key ?? projects[0]!.api_key!, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
  const ask = async (path: string, body: object, key?: string): Promise<Record<string, unknown>> => {
    const answer = await send('POST', `/tables${path}`, body, key)
    return { http: answer.status, ...((await answer.json()) as object) }
  }
  const put = async (path: string): Promise<number> =>
    (await send('PUT', `/files?path=${path}`, documentOf('x'))).status
  /** Of a table that a run over it takes long. */
  const longRun = async (): Promise<(key?: string) => Promise<Record<string, unknown>>> => {
    const { id } = await ask('', { name: 'long', settings: { type: 'reconcile' } })
    const data = Array.from({ length: 4_000 }, (_, at) => ({
      asset_name: `row ${at}`,
      row_data: { vendor: word(at) },
    }))
    await ask(`/${String(id)}/forward`, { type: 'data', data })
    const vendor = Array.from({ length: 4_000 }, (_, at) => word(at).replace('customer', 'custmer'))
    return (key) => ask(`/${String(id)}/reconcile`, { data: { vendor } }, key)
  }
  const workers = async (): Promise<number[]> => {
    const pid = served.process.pid!
    const threads = await readdir(`/proc/${pid}/task`)
    const lists = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8'))
    return (await Promise.all(lists)).flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  }

  test('fails a run at once whose process cannot begin, with a reason, and records it', async () => {
    // A package that is replaced under a service that runs.
    await rm(join(command.folder, 'dist/cli/matching-process.js'))
    await start()
    const table = await ask('', { name: 'r', settings: { type: 'reconcile' } })
    const runs = await Promise.all(
      Array.from({ length: 5 }, () => ask(`/${String(table['id'])}/reconcile`, { data: { a: ['x', 'y'] } })),
    )
    for (const run of runs)
      expect(run).toMatchObject({
        http: 200,
        status: 'error',
        data: { a: [null, null] },
        reasoning: expect.stringMatching(/^Not reconciled: the process .* could not begin/),
        row_id: expect.any(String),
      })
    await expect.poll(() => served.log()).toContain('a process for reconciliation ended')
    expect(await served.end('SIGTERM')).toBe(0)
  })

  test('loses the run whose process is killed, and nothing else', async () => {
    await start()
    const run = await longRun()
    const killed = run()
    const [pid] = await vi.waitUntil(async () => {
      const found = await workers()
      return found.length > 0 && found
    }, patience)
    // Of another key: it has a process of its own.
    const key = (await command.run('keys', 'create', 'acme', '--data', join(command.folder, 'data'))).stdout
    const other = run(key.trim())
    await vi.waitUntil(async () => (await workers()).length === 2, patience)
    process.kill(pid!, 'SIGKILL')
    expect(await put('/meanwhile.txt')).toBe(201)
    expect(await other).toMatchObject({ http: 200, status: 'done' })
    expect(await killed).toMatchObject({ http: 200, status: 'error', row_id: expect.any(String) })
    await expect.poll(() => served.log()).toContain('SIGKILL')
    expect(await run()).toMatchObject({ http: 200, status: 'done' })
    expect(await served.end('SIGTERM')).toBe(0)
  })

  test('opens no port to a debugger, nor does the process of a run', async () => {
    await start()
    const { id } = await ask('', { name: 'r', settings: { type: 'reconcile' } })
    const run = (): Promise<object> => ask(`/${String(id)}/reconcile`, { data: { a: 'x' } })
    expect(await run()).toMatchObject({ http: 200, status: 'done' })
    const pids = [served.process.pid!, ...(await workers())]
    expect(pids).toHaveLength(2)
    for (const pid of pids) process.kill(pid, 'SIGUSR1')
    expect(await run()).toMatchObject({ http: 200, status: 'done' })
    const { stdout } = await execute('ss', ['-ltnp'])
    // The service's own is its only one.
    expect(pids.map((pid) => stdout.split(`pid=${pid},`).length - 1)).toEqual([1, 0])
    expect(await served.end('SIGTERM')).toBe(0)
  })

  test('ends without waiting for the process of a run', async () => {
    await start('--drain', '0s')
    const run = (await longRun())().catch((error: unknown) => error)
    const [pid] = await vi.waitUntil(async () => {
      const found = await workers()
      return found.length > 0 && found
    }, patience)
    // It would not end when it is asked to, nor while it is stopped.
    process.kill(pid!, 'SIGSTOP')
    expect(await served.end('SIGTERM')).toBe(0)
    await run
    await vi.waitUntil(() => !existsSync(`/proc/${pid}`), patience)
  })

  test('is not ended by a document of 21 million objects', async () => {
    await start()
    const content = Buffer.alloc(64 * 1024 * 1024 - 2, '{},')
    const file = Buffer.concat([
      Buffer.from('['),
      content.subarray(0, content.lastIndexOf('}') + 1),
      Buffer.from(']'),
    ])
    const document = { mimetype: 'application/json', filename: 'm.json', file_type: 'binary' }
    const { asset_ids: ids } = await ask('/storage', {
      name: 'm',
      document: { ...document, file: file.toString('base64') },
    })
    const { id } = await ask('', { name: 'r', settings: { type: 'reconcile' } })
    const runs = Array.from({ length: 4 }, () =>
      ask(`/${String(id)}/reconcile`, { files: [{ id: (ids as string[])[0]! }] }),
    )
    for (const run of await Promise.all(runs))
      expect(run).toMatchObject({
        http: 200,
        status: 'error',
        reasoning: 'Not reconciled: m.json: more than 5000000 values: split the file.',
      })
    expect(await served.end('SIGTERM')).toBe(0)
  })
})

describe('a run that would take too much', () => {
  let folder: string
  let close: () => Promise<void>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docmount-runs-'))
    const { store } = await openEmbedded(folder)
    close = () => store.destroy()
  })
  afterAll(async () => {
    await close()
    await rm(folder, { recursive: true })
  })

  const task = (data: Record<string, unknown>) => ({ tableId: 'none', assetCount: 0, data })

  test('memory is refused, and the next one runs', async () => {
    const matching = new Matching({ dataDir: folder }, silentLog, { bytes: 32 * 2 ** 20 })
    const bytes = Buffer.from(`[${'{"a":{"b":[1,2,3,{}]}},'.repeat(500_000)}{}]`)
    const load = async () => [{ name: 'large.json', format: 'json' as const, bytes }]
    await expect(matching.run('key', task({}), load)).rejects.toMatchObject({ statusCode: 413 })
    expect(await matching.run('key', task({ a: 1 }))).toMatchObject({ kind: 'done' })
    matching.close()
  })

  test('memory by being many loads its documents in turn, and too many are refused', async () => {
    const matching = new Matching({ dataDir: folder }, silentLog)
    const loaded = { now: 0, most: 0 }
    const load = async () => {
      loaded.most = Math.max(loaded.most, ++loaded.now)
      return []
    }
    const runs = Array.from({ length: 80 }, () =>
      matching.run('key', task({ a: 1 }), load).then(
        () => loaded.now-- && 'done',
        (error: { statusCode?: number }) => error.statusCode,
      ),
    )
    const outcomes = new Set(await Promise.all(runs))
    expect(outcomes).toEqual(new Set(['done', 503]))
    expect(loaded.most).toBeLessThanOrEqual(4)
    matching.close()
  })

  test('of one key are made one after the other, and another key comes first', async () => {
    const matching = new Matching({ dataDir: folder }, silentLog, { threads: 2 })
    const begun: string[] = []
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const run = (keyId: string): Promise<unknown> =>
      matching.run(keyId, task({ a: 1 }), async () => {
        begun.push(keyId)
        if (keyId === 'greedy') await held
        return []
      })
    const greedy = Array.from({ length: 40 }, () => run('greedy'))
    await run('modest')
    expect(begun).toEqual(['greedy', 'modest'])
    const modest = Array.from({ length: 10 }, () => run('modest'))
    await Promise.all(modest)
    expect(begun.filter((keyId) => keyId === 'greedy')).toHaveLength(1)
    goOn()
    const outcomes = await Promise.allSettled(greedy)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
    matching.close()
  })

  test('time because others go before it is asked to come again', async () => {
    const matching = new Matching({ dataDir: folder }, silentLog, { runMs: 300 })
    const never = (): Promise<never> => new Promise(() => undefined)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => matching.run('key', task({ a: 1 }), never)),
    )
    const statuses = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.statusCode)
    expect(new Set(statuses)).toEqual(new Set([413, 503]))
    matching.close()
  })

  test('time is refused', async () => {
    const matching = new Matching({ dataDir: folder }, silentLog, { runMs: 1 })
    await expect(matching.run('key', task({ a: 1 }))).rejects.toMatchObject({ statusCode: 413 })
    matching.close()
  })
})
