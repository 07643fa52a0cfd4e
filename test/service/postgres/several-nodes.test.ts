// Several nodes are one service: whatever they do at the same time, each of them answers as if it were alone.

import { createHash, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkStore } from '../../../src/service/store/postgres/check.ts'
import { documentOf, errorOf, files } from '../support.ts'
import { type Nodes, startNodes } from './nodes.ts'

let nodes: Nodes
beforeAll(async () => {
  nodes = await startNodes()
})
afterAll(() => nodes.close())

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!
const either = (): Nodes['one'] => pick([nodes.one, nodes.two])

async function urlOf(node: Nodes['one'], path: string): Promise<string> {
  return ((await (await node.get(path)).json()) as { url: string }).url
}

async function contentOf(node: Nodes['one'], path: string): Promise<string> {
  return (await fetch(await urlOf(node, path))).text()
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const { status, ...rest } = await answer.then(async (got) => ({
    status: got.status,
    body: await got.text(),
  }))
  if (status >= 500) console.error(status, rest.body)
  return status
}

test('64 clients who put, copy, and delete documents and trees in the same places meet no failure', async () => {
  const kept = new Map<string, string>()
  const seen = new Map<number, number>()
  const hot = Array.from({ length: 6 }, (_, at) => `/hot/${at}`)
  const contents = [randomBytes(100), randomBytes(9_000), randomBytes(50_000)]
  const client = async (number: number): Promise<void> => {
    for (let turn = 0; turn < 8; turn++) {
      const own = `/own/${number}/${turn}.txt`
      const content = pick(contents)
      const put = await either().put(own, content)
      expect([put.status, await put.text()]).toEqual([201, expect.anything()])
      kept.set(own, hashOf(content))
      const folder = pick(hot)
      const path = `${folder}/${pick(['a', 'b', 'c/d'])}.txt`
      const status = await statusOf(
        turn % 4 === 3
          ? either().delete(pick(['/hot', folder, path]))
          : turn % 4 === 2
            ? either().call('PUT', files(path), {
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({
                  ...documentOf(''),
                  file_type: 'uri',
                  file: await urlOf(either(), own),
                }),
              })
            : either().put(path, pick(contents)),
      )
      seen.set(status, (seen.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 64 }, (_, number) => client(number)))
  expect([...seen.keys()].filter((status) => ![201, 204, 404, 409].includes(status))).toEqual([])
  expect([...seen.keys()].toSorted((a, b) => a - b)).toEqual([201, 204, 404, 409])

  for (const [path, hash] of kept) {
    const { url } = (await (await either().get(path)).json()) as { url: string }
    expect(hashOf(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(hash)
  }
  const { findings } = await checkStore({ database: nodes.database, dataDir: nodes.folder })
  expect(findings).toEqual([])
}, 300_000)

test('of many who put to one path one is told 201, all others 409', async () => {
  for (let round = 0; round < 10; round++) {
    const path = `/taken/${round}/new folder/a.txt`
    const answers = await Promise.all(Array.from({ length: 16 }, (_, at) => either().put(path, `by ${at}`)))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([201, ...Array.from({ length: 15 }, () => 409)])
    const winner = answers.findIndex(({ status }) => status === 201)
    expect(await contentOf(nodes.two, path)).toBe(`by ${winner}`)
  }
})

test('what was deleted and is not cleared yet is in nobody’s way', async () => {
  const [{ id }] = (await nodes.ask(`select id from projects where name = 'acme'`)) as [{ id: string }]
  // More than one batch: what is left of it is detached.
  await nodes.one.put('/big/f/x.txt', 'old')
  await nodes.ask(`insert into nodes (id, project_id, parent_id, name, path, kind, modified_at)
    select 'n' || g, '${id}', (select id from nodes where path = '/big'), 'f' || g, '/big/f' || g, 'folder', 1
    from generate_series(1, 2500) as g`)
  expect((await nodes.one.delete('/big')).status).toBe(204)
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) => either().put(`/big/f${at * 50}`, 'new')),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  await expect.poll(() => nodes.ask(`select 1 from detached`)).toEqual([])
  const { entries } = (await (await nodes.two.get('/big')).json()) as { entries: unknown[] }
  expect(entries).toHaveLength(40)
})

test('names are compared byte by byte, though the database’s own order is natural', async () => {
  const [order] = await nodes.ask<{ natural: boolean }>(`select 'a' < 'B' as natural`)
  expect(order).toEqual({ natural: true })
  const others = ['/A/x', '/á/x', '/a.b', '/a0', '/a!', '/aa/x', '/Ａ/x']
  for (const path of ['/a/x', '/a/y/z', ...others]) expect((await nodes.one.put(path, path)).status).toBe(201)
  expect((await nodes.two.delete('/a')).status).toBe(204)
  for (const path of others) expect(await contentOf(nodes.one, path)).toBe(path)
  const { entries } = (await (await nodes.one.get('/')).json()) as { entries: { name: string }[] }
  const names = entries.map(({ name }) => name)
  expect(names).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
})

describe('a clock that is wrong', () => {
  afterEach(() => void vi.useRealTimers())

  test('moves no time back, and ends no link', async () => {
    const timeOf = async (path: string): Promise<number> => {
      const body = (await (await nodes.one.get(path)).json()) as { modified_at: string }
      return Date.parse(body.modified_at)
    }
    const before = Date.now()
    await nodes.one.put('/times/first.txt', '1')
    const url = await urlOf(nodes.one, '/times/first.txt')
    vi.useFakeTimers({ toFake: ['Date'], now: before - 3_600_000 })
    await nodes.two.put('/times/second.txt', '2')
    const late = await urlOf(nodes.two, '/times/first.txt')
    vi.setSystemTime(before + 86_400_000)
    await nodes.one.put('/times/third.txt', '3')
    expect((await fetch(url)).status).toBe(200)
    vi.useRealTimers()
    expect((await fetch(late)).status).toBe(200)
    const times = [
      await timeOf('/times/first.txt'),
      await timeOf('/times/second.txt'),
      await timeOf('/times/third.txt'),
    ]
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(new Set(times).size).toBe(3)
    expect(times[2]).toBeLessThan(before + 3_600_000)
  })
})

test('a link made by one node is good at the other, and of another service it is not', async () => {
  await nodes.one.put('/linked.txt', 'linked')
  const url = new URL(await urlOf(nodes.one, '/linked.txt'))
  url.port = String(nodes.two.service.port)
  expect(await (await fetch(url)).text()).toBe('linked')
  const others = await startNodes()
  url.port = String(others.one.service.port)
  expect((await fetch(url)).status).toBe(403)
  await others.close()
})

test('a key revoked at one node opens the other no longer than a second', async () => {
  const key = await nodes.two.service.createKey('acme')
  const status = async (): Promise<number> =>
    (await nodes.one.call('GET', '/projects', { headers: { 'x-api-key': key } })).status
  expect(await status()).toBe(200)
  const { withAdmin } = await import('../../../src/service/admin/reach-admin.ts')
  await withAdmin({ dataDir: nodes.folder, database: nodes.database }, async (admin) => {
    const [last] = (await admin.listKeys('acme')).toReversed()
    await admin.revokeKeys('acme', [last!.id])
  })
  await expect.poll(status).toBe(401)
})

test('what one node forwards the other reconciles with at once', async () => {
  const headers = { 'content-type': 'application/json' }
  const post = async (node: Nodes['one'], path: string, body: object): Promise<unknown> => {
    const answer = await node.call('POST', `/projects/acme/tables${path}`, {
      headers,
      body: JSON.stringify(body),
    })
    expect(answer.ok).toBe(true)
    return answer.json()
  }
  const wanted = { name: 'agreed', settings: { type: 'reconcile' } }
  const { id } = (await post(nodes.one, '', wanted)) as { id: string }
  const found = async (node: Nodes['one'], number: string): Promise<unknown> =>
    ((await post(node, `/${id}/reconcile`, { data: { number } })) as { data: object }).data
  for (let round = 0; round < 6; round++) {
    const [from, to] = round % 2 === 0 ? [nodes.one, nodes.two] : [nodes.two, nodes.one]
    const number = `INV-${round}-${randomBytes(4).toString('hex')}`
    const before = await found(to, number)
    const data = [{ asset_name: number, row_data: { number } }]
    await post(from, `/${id}/forward`, { type: 'data', data })
    expect(before).not.toEqual({ number })
    expect(await found(to, number)).toEqual({ number })
    expect(await found(from, number)).toEqual({ number })
  }
})

test('rows that both forward into one table at once are all there, each under a number of its own', async () => {
  const post = async (node: Nodes['one'], path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await node.call('POST', `/projects/acme/tables${path}`, {
      headers,
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(201)
    return (await answer.json()) as Record<string, unknown>
  }
  const made = await post(nodes.one, '', { name: 'from both', settings: { type: 'reconcile' } })
  const id = String(made['id'])
  const counts = [3000, 1, 2000, 700, 1500, 1]
  await Promise.all(
    counts.map((count, at) => {
      const data = Array.from({ length: count }, (_, row) => ({ row_data: { [`of ${at}`]: row } }))
      return post(at % 2 === 0 ? nodes.one : nodes.two, `/${id}/forward`, { type: 'data', data })
    }),
  )
  const all = counts.reduce((sum, count) => sum + count)
  const [table] = await nodes.ask<object>(`select tables.asset_count, count(distinct number), max(number)
    from tables join assets on table_id = tables.id where tables.id = '${id}' group by 1`)
  expect(table).toEqual({ asset_count: `${all}`, count: `${all}`, max: `${all - 1}` })
})

describe('limits per key and per address', () => {
  const limits = { requestsPerSecondPerKey: 1, requestsPerSecondPerAddress: 1 }
  let few: Nodes
  beforeAll(async () => {
    few = await startNodes({ limits, trustProxy: ['127.0.0.1'] })
  })
  afterAll(() => few.close())

  /** The longest time that one of `requests` is told to wait. A node that counts alone never says more than a second. */
  async function longestWait(
    requests: (node: Nodes['one'], headers: Record<string, string>) => Promise<Response>,
  ): Promise<number> {
    const headers = { 'x-api-key': few.one.key }
    const asked = Array.from({ length: 30 }, (_, at) => requests(at % 2 === 0 ? few.one : few.two, headers))
    const waits = (await Promise.all(asked)).map((answer) => Number(answer.headers.get('retry-after') ?? 0))
    return Math.max(...waits)
  }

  test.each([
    [
      'key',
      (node: Nodes['one'], headers: Record<string, string>) => node.call('GET', '/projects', { headers }),
    ],
    [
      'address',
      (node: Nodes['one']) =>
        node.call('GET', '/projects', {
          headers: { 'x-forwarded-for': '203.0.113.7', 'x-api-key': crypto.randomUUID() },
        }),
    ],
  ])('hold over both nodes: what one lets through for a %s the other gives less', async (_, ask) => {
    await expect.poll(() => longestWait(ask)).toBeGreaterThan(2)
  })

  test('what is told of a key is forgotten once it may have all its requests again', async () => {
    const { forgetFull } = await import('../../../src/service/store/postgres/request-tally.ts')
    const { openPostgresReader } = await import('../../../src/service/store/postgres/open-postgres.ts')
    const store = openPostgresReader(few)
    await few.ask(`insert into request_rates values ('key full', 0), ('key owing', 9e15)`)
    await forgetFull(store)
    await store.destroy()
    const rows = await few.ask(`select name from request_rates where name in ('key full', 'key owing')`)
    expect(rows).toEqual([{ name: 'key owing' }])
  })
})

test('a path may be as long as an index entry, and what cannot be kept is refused in words', async () => {
  const long = `/${Array.from({ length: 12 }, () => randomBytes(106).toString('hex')).join('/')}`
  expect(Buffer.byteLength(long)).toBe(2_556)
  expect((await nodes.one.put(long, 'deep')).status).toBe(201)
  expect(await contentOf(nodes.two, long)).toBe('deep')
  expect(await errorOf(await nodes.one.put(`${long}.text`, 'deeper'))).toMatchObject({ status: 400 })
  expect((await nodes.one.delete(long.slice(0, 300))).status).toBe(404)
  const stored = (name: string, filename: string): Promise<Response> =>
    nodes.one.call('POST', '/projects/acme/tables/storage', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, document: { ...documentOf('x'), filename } }),
    })
  expect((await stored('fine', randomBytes(5_000).toString('hex'))).status).toBe(201)
  expect(await errorOf(await stored('refused', 'with\0NUL'))).toMatchObject({ status: 400 })
})
