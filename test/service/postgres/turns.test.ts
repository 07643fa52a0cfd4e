// One project never keeps others waiting, however many change it at a time.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionOf } from '../../../src/service/store/postgres/address.ts'
import { Turns } from '../../../src/service/store/postgres/turns.ts'
import { documentOf } from '../support.ts'
import { type Nodes, startNodes } from './nodes.ts'

let nodes: Nodes
let otherKey: string
beforeAll(async () => {
  nodes = await startNodes({ projects: ['acme', 'other'] })
  otherKey = await nodes.one.service.createKey('other')
})
afterAll(() => nodes.close())

const json = { 'content-type': 'application/json' }
const atOther = (method: string, path: string, content?: string): Promise<Response> =>
  nodes.one.call(method, `/projects/other/files?path=${path}`, {
    headers: { ...json, 'x-api-key': otherKey },
    ...(content === undefined ? {} : { body: JSON.stringify(documentOf(content)) }),
  })

/** Runs `work` while somebody else holds the rows, as another node may for a moment. */
async function holding(rows: string, work: () => Promise<void>): Promise<void> {
  const holder = new pg.Client(connectionOf(nodes.database))
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query(`select id from ${rows} for update`)
    await work()
  } finally {
    await holder.end()
  }
}

/** How many of the node's connections wait for a row. */
async function waiting(): Promise<number> {
  const [row] = await nodes.ask<{ count: number }>(`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = 'docmount' and wait_event_type = 'Lock'`)
  return row!.count
}

async function othersAreServed(): Promise<void> {
  await expect.poll(waiting).toBeGreaterThan(0)
  for (let round = 0; round < 10; round++) {
    const path = `/${crypto.randomUUID()}`
    expect((await atOther('PUT', path, 'x')).status).toBe(201)
    expect((await atOther('GET', path)).status).toBe(200)
    expect((await nodes.one.get('/')).status).toBe(200)
  }
}

describe('while 256 wait for one row, other projects go on, and all 256 get their turn', () => {
  const many = Array.from({ length: 256 }, (_, at) => at)

  test('uploads and deletions in one project', async () => {
    let statuses: Promise<number[]> | undefined
    await holding(`projects where name = 'acme'`, async () => {
      const asked = many.map((at) =>
        at % 4 === 3 ? nodes.one.delete(`/none/${at}`) : nodes.one.put(`/many/${at}.txt`, `${at}`),
      )
      statuses = Promise.all(asked.map(async (answer) => (await answer).status))
      await othersAreServed()
    })
    expect(await statuses).toEqual(many.map((at) => (at % 4 === 3 ? 404 : 201)))
  })

  test('rows forwarded into one table', async () => {
    const made = await nodes.one.call('POST', '/projects/acme/tables', {
      headers: json,
      body: JSON.stringify({ name: 'rows', settings: { type: 'reconcile' } }),
    })
    const { id } = (await made.json()) as { id: string }
    let statuses: Promise<number[]> | undefined
    await holding(`tables where id = '${id}'`, async () => {
      const asked = many.map((at) =>
        nodes.one.call('POST', `/projects/acme/tables/${id}/forward`, {
          headers: json,
          body: JSON.stringify({ type: 'data', data: [{ asset_name: `row ${at}`, row_data: { at } }] }),
        }),
      )
      statuses = Promise.all(asked.map(async (answer) => (await answer).status))
      await othersAreServed()
    })
    expect(new Set(await statuses)).toEqual(new Set([201]))
  })
})

describe('turns', () => {
  const never = (): Promise<never> => new Promise(() => undefined)

  test('who waits too long for one is refused, and is not done later', async () => {
    const turns = new Turns(4, 1)
    let done = 0
    void turns.take('busy', never)
    void turns.take('busy', never)
    await expect(turns.take('busy', async () => done++)).rejects.toMatchObject({ statusCode: 503 })
    expect(await turns.take('another', async () => 'served')).toBe('served')
    expect(done).toBe(0)
  })

  test('of many projects together leave a part of the pool alone', async () => {
    const turns = new Turns(3, 60_000)
    let begun = 0
    for (const name of ['a', 'b', 'c', 'd'])
      void turns.take(name, () => {
        begun++
        return never()
      })
    await expect.poll(() => begun).toBe(3)
  })

  test('of one project are as few when two end together and others come', async () => {
    const turns = new Turns(10)
    let underWay = 0
    const work = (): Promise<never> => {
      underWay++
      return never()
    }
    const two = [1, 2].map(() => turns.take('a', async () => undefined))
    await Promise.race(two.map((turn) => turn.then(() => void turns.take('a', work))))
    await Promise.all(two)
    for (let count = 0; count < 4; count++) void turns.take('a', work)
    await expect.poll(() => underWay).toBeGreaterThanOrEqual(2)
    await turns.take('another', async () => undefined)
    expect(underWay).toBe(2)
  })

  test('go on after work that failed', async () => {
    const turns = new Turns(1)
    await expect(turns.take('a', () => Promise.reject(new Error('one')))).rejects.toThrow('one')
    expect(await turns.take('a', async () => 'two')).toBe('two')
  })
})
