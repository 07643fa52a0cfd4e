// The same calls to the embedded store, to one node and to two on PostgreSQL with Ceph's gateway, one after the other in one
// run: how many a second, and what each costs the nodes and the engines.

import { join } from 'node:path'
import Libsql from 'libsql'
import { Connection, requestHead } from './connection.mjs'
import { startEngines } from './engines.mjs'
import { startNode, startService } from './servers.mjs'
import { pathOf, rate, send, serviceUpload, serviceUploads, smallContent } from './throughput.mjs'

const MiB = 1024 * 1024
const projects = Array.from({ length: 16 }, (_, at) => `bench-${at}`)

/** Prints the table. */
export async function nodes(folder, options) {
  const rows = new Map()
  const engines = await startEngines(options.engines ?? join(folder, 'engines'))
  try {
    const stores = [
      () => embedded(folder),
      () => onEngines(engines, folder, 1),
      () => onEngines(engines, folder, 2),
    ]
    for (const [at, open] of stores.entries()) {
      const store = await open()
      try {
        for await (const [name, figures] of measure(store, options)) {
          rows.set(name, [...(rows.get(name) ?? Array(at * 2).fill('')), ...figures])
          console.error(`${store.name}: ${name}: ${figures.join(', ')}`)
        }
      } finally {
        await store.stop()
      }
    }
  } finally {
    if (options.engines === undefined) engines.stop()
  }
  console.log('| | embedded | processor | one node | processor | two nodes | processor |')
  console.log('|---|--:|--:|--:|--:|--:|--:|')
  for (const [name, figures] of rows) console.log(`| ${[name, ...figures].join(' | ')} |`)
  console.log('\nProcessor time: of the nodes, then of PostgreSQL, then of the gateway with its store.')
}

async function embedded(folder) {
  const service = await startService(folder, { projects })
  return {
    ...service,
    name: 'embedded',
    ports: [service.port],
    parts: [service.processorSeconds],
    fill: async (count) => {
      const database = new Libsql(join(service.dataDir, 'service.db'), { timeout: 30_000 })
      const numbers =
        'with recursive number(at) as (select 1 union all select at + 1 from number where at < ?)'
      database
        .prepare(`${numbers} insert or ignore into small_contents (sha256, bytes)
        select printf('%064x', at), x'78' from number`)
        .run([count])
      database
        .prepare(`${numbers} insert into nodes
          (id, project_id, parent_id, name, path, kind, modified_at, size, mimetype, blob)
        select printf('%032x', at), first.project_id, first.parent_id, at || '.txt', '/many/' || at || '.txt', 'file',
          first.modified_at, 1, first.mimetype, printf('%064x', at)
        from number join nodes first on first.path = '/many/first.txt'`)
        .run([count])
      database.close()
    },
    left: async () => {
      const database = new Libsql(join(service.dataDir, 'service.db'), { readonly: true })
      const { count } = database.prepare('select count(*) as count from detached').get([])
      database.close()
      return count
    },
  }
}

async function onEngines(engines, folder, count) {
  const { url, ask } = await engines.freshDatabase()
  const place = {
    database: url,
    blobs: engines.freshBlobs(),
    env: engines.env,
    log: join(folder, 'nodes.log'),
  }
  const first = await startNode(place, projects)
  const all = [first]
  while (all.length < count) all.push(await startNode(place))
  return {
    name: count === 1 ? 'one node' : `${count} nodes`,
    ports: all.map(({ port }) => port),
    keyOf: first.keyOf,
    parts: [
      () => all.reduce((sum, node) => sum + node.processorSeconds(), 0),
      engines.databaseSeconds,
      engines.gatewaySeconds,
    ],
    fill: async (documents) => {
      await ask(`insert into blobs (sha256, size, bytes) select lpad(to_hex(at), 64, '0'), 1, 'x'
        from generate_series(1, ${documents}) as at on conflict do nothing`)
      await ask(`insert into nodes (id, project_id, parent_id, name, path, kind, modified_at, size, mimetype, blob)
        select lpad(to_hex(at), 32, '0'), first.project_id, first.parent_id, at || '.txt', '/many/' || at || '.txt', 'file',
          first.modified_at, 1, first.mimetype, lpad(to_hex(at), 64, '0')
        from generate_series(1, ${documents}) as at join nodes first on first.path = '/many/first.txt'`)
      await ask('analyze')
    },
    left: async () => Number((await ask('select count(*) as count from detached'))[0].count),
    stop: async () => {
      for (const node of all) await node.stop()
    },
  }
}

/** @returns {AsyncGenerator<[string, string[]], void, void>} */
async function* measure(store, { seconds, clients, megabytes, largeClients, documents }) {
  const [one] = projects
  const projectOf = (name) => ({ name, key: store.keyOf(name) })
  const put = (project) => serviceUpload(projectOf(project), smallContent())
  for (const count of clients)
    yield [`PUT 8 KiB, ${named(count)}`, await calls(store, count, seconds, () => put(one))]
  const most = Math.max(...clients)
  let turn = 0
  yield [
    `PUT 8 KiB, ${named(most)}, ${projects.length} projects`,
    await calls(store, most, seconds, () => put(projects[turn++ % projects.length])),
  ]

  const connection = await new Connection(store.ports[0]).open()
  const links = []
  for (let at = 0; at < 200; at++)
    links.push(pathOf(JSON.parse((await send(connection, put(one), 201)).body).url))
  connection.close()
  for (const count of clients)
    yield [
      `GET 8 KiB, ${named(count)}`,
      await calls(store, count, seconds, () => ({ head: requestHead('GET', pick(links)), status: 200 })),
    ]

  const largeUpload = serviceUploads(projectOf(one), megabytes * MiB)
  for (const count of largeClients) {
    const found = []
    yield [
      `PUT ${megabytes} MiB, ${named(count)}`,
      await large(store, count, megabytes, largeUpload, (answer) =>
        found.push(pathOf(JSON.parse(answer.body).url)),
      ),
    ]
    yield [
      `GET ${megabytes} MiB, ${named(count)}`,
      await large(store, count, megabytes, (at) => ({
        head: requestHead('GET', found[at]),
        isCounted: true,
        status: 200,
      })),
    ]
  }

  const key = store.keyOf(one)
  const url = (path) => `/api/projects/${one}/files?path=${path}`
  const body = JSON.stringify({ mimetype: 'text/plain', filename: 'a', file_type: 'binary', file: 'eA==' })
  const first = { head: requestHead('PUT', url('/many/first.txt'), key, body.length), body }
  // Between two of them more time may pass than a connection is kept.
  const once = async (request, status) => {
    const own = await new Connection(store.ports[0]).open()
    await send(own, request, status).finally(() => own.close())
  }
  const many = (method) => ({ head: requestHead(method, url('/many'), key) })
  await once(first, 201)
  await store.fill(documents)
  yield [`listing of ${documents}`, await timed(store, () => once(many('GET'), 200))]
  yield [`DELETE of ${documents}`, await timed(store, () => once(many('DELETE'), 204))]
  yield [
    '… and its clearing',
    await timed(store, async () => {
      while ((await store.left()) > 0) await new Promise((resolve) => setTimeout(resolve, 250))
    }),
  ]
}

async function calls(store, clients, seconds, next) {
  const { perSecond, processorMs } = await rate(store, clients, seconds, next)
  return [`${Math.round(perSecond)}/s`, `${processorMs.map((ms) => ms.toFixed(2)).join(' + ')} ms`]
}

async function large(store, clients, megabytes, next, done = () => {}) {
  const connections = await Promise.all(
    Array.from({ length: clients }, (_, at) => new Connection(store.ports[at % store.ports.length]).open()),
  )
  const before = secondsOf(store)
  const start = performance.now()
  await Promise.all(
    connections.map(async (connection, at) => {
      const { status = 201, ...request } = next(at)
      done(await send(connection, request, status))
    }),
  )
  const taken = (performance.now() - start) / 1000
  for (const connection of connections) connection.close()
  const each = secondsOf(store).map((now, at) => ((now - before[at]) / clients).toFixed(2))
  return [`${Math.round((megabytes * clients * 1.048576) / taken)} MB/s`, `${each.join(' + ')} s`]
}

async function timed(store, work) {
  const before = secondsOf(store)
  const start = performance.now()
  await work()
  const taken = (performance.now() - start) / 1000
  const each = secondsOf(store).map((now, at) => (now - before[at]).toFixed(2))
  return [`${taken.toFixed(1)} s`, `${each.join(' + ')} s`]
}

const secondsOf = (store) => store.parts.map((part) => part())
const pick = (list) => list[Math.floor(Math.random() * list.length)]
const named = (clients) => (clients === 1 ? 'one client' : `${clients} clients`)
