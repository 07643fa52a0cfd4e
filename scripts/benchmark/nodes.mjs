// Comparison of the embedded store with one node and two nodes on PostgreSQL and Ceph's gateway, one after the other in one run:
// calls per second, and processor time of nodes and engines per call.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Libsql from 'libsql'
import {
  bodyOf,
  clientsTitle,
  linkOf,
  openAll,
  pick,
  rate,
  requestHead,
  send,
  sendAlone,
  serviceUploads,
  uploadOf,
} from './connection.mjs'
import { startEngines } from './engines.mjs'
import { startService } from './servers.mjs'
import { tableOf, timed } from './table.mjs'

const MiB = 1024 * 1024
const projects = Array.from({ length: 16 }, (_, at) => `bench-${at}`)

export const nodes = { run: compareStores }

async function compareStores({ work, undo, isQuick, options }) {
  const numbers = (text) => text.split(',').map(Number)
  const load = {
    seconds: Number(options.seconds ?? (isQuick ? 3 : 10)),
    clients: numbers(options.clients),
    megabytes: isQuick ? 64 : 256,
    largeClients: numbers(options['large-clients']),
    documents: Number(options.documents),
  }
  const rows = new Map()
  const engines = await startEngines(options.engines ?? join(work, 'engines'))
  if (options.engines === undefined) undo.push(async () => engines.stop())
  const stores = [
    () => embedded(work, undo),
    () => onEngines(engines, work, undo, 1),
    () => onEngines(engines, work, undo, 2),
  ]
  for (const [at, open] of stores.entries()) {
    const store = await open()
    for await (const [name, figures] of measure(store, load)) {
      rows.set(name, [...(rows.get(name) ?? Array(at * 2).fill('')), ...figures])
      console.error(`${store.name}: ${name}: ${figures.join(', ')}`)
    }
    await store.stop()
  }
  const head = ['', 'embedded', 'processor', 'one node', 'processor', 'two nodes', 'processor']
  console.log(
    tableOf(
      head,
      [...rows].map((row) => row.flat()),
    ),
  )
  console.log('\nProcessor time: of the nodes, then of PostgreSQL, then of the gateway with its store.')
}

async function embedded(folder, undo) {
  const service = await startService(folder, { projects })
  undo.push(service.stop)
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

async function onEngines(engines, work, undo, count) {
  const { url, ask } = await engines.freshDatabase()
  const place = ['--database', url, '--blobs', engines.freshBlobs()]
  const all = []
  while (all.length < count) {
    const folder = join(work, `${count}-${all.length}`)
    await mkdir(folder)
    const made = all.length === 0 ? projects : []
    all.push(await startService(folder, { place, projects: made, env: engines.env }))
    undo.push(all.at(-1).stop)
  }
  return {
    name: count === 1 ? 'one node' : `${count} nodes`,
    ports: all.map(({ port }) => port),
    keyOf: all[0].keyOf,
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
  const puts = new Map(projects.map((name) => [name, serviceUploads(name, store.keyOf(name))]))
  for (const count of clients)
    yield [`PUT 8 KiB, ${clientsTitle(count)}`, await calls(store, count, seconds, puts.get(one))]
  const most = Math.max(...clients)
  let turn = 0
  const next = () => puts.get(projects[turn++ % projects.length])()
  yield [
    `PUT 8 KiB, ${clientsTitle(most)}, ${projects.length} projects`,
    await calls(store, most, seconds, next),
  ]

  const links = []
  const [connection] = await openAll(store.ports, 1)
  for (let at = 0; at < 200; at++) links.push(linkOf(await send(connection, puts.get(one)())))
  connection.close()
  const get = () => ({ head: requestHead('GET', pick(links)), status: 200 })
  for (const count of clients)
    yield [`GET 8 KiB, ${clientsTitle(count)}`, await calls(store, count, seconds, get)]

  const largeUpload = serviceUploads(one, store.keyOf(one), megabytes * MiB)
  for (const count of largeClients) {
    const found = []
    const title = `${megabytes} MiB, ${clientsTitle(count)}`
    yield [
      `PUT ${title}`,
      await large(store, count, megabytes, largeUpload, (answer) => found.push(linkOf(answer))),
    ]
    const getLarge = (at) => ({ head: requestHead('GET', found[at]), isCounted: true, status: 200 })
    yield [`GET ${title}`, await large(store, count, megabytes, getLarge)]
  }

  const key = store.keyOf(one)
  const many = (method) => () =>
    sendAlone(store.ports[0], {
      head: requestHead(method, `/api/projects/${one}/files?path=/many`, [`X-API-Key: ${key}`]),
    })
  await sendAlone(store.ports[0], uploadOf(one, key, '/many/first.txt', bodyOf(Buffer.from('x'))))
  await store.fill(documents)
  yield [`listing of ${documents}`, await costs(store, many('GET'))]
  yield [`DELETE of ${documents}`, await costs(store, many('DELETE'))]
  const clear = async () => {
    while ((await store.left()) > 0) await sleep(250)
  }
  yield ['… and its clearing', await costs(store, clear)]
}

async function calls(store, clients, seconds, next) {
  const { perSecond, processorMs } = await rate(store, clients, seconds, next)
  return [`${Math.round(perSecond)}/s`, `${processorMs.map((ms) => ms.toFixed(2)).join(' + ')} ms`]
}

async function large(store, clients, megabytes, next, done = () => {}) {
  const connections = await openAll(store.ports, clients)
  const { taken, each } = await secondsOf(store, () =>
    Promise.all(connections.map(async (connection, at) => done(await send(connection, next(at))))),
  )
  for (const connection of connections) connection.close()
  const cells = each.map((seconds) => (seconds / clients).toFixed(2))
  return [`${Math.round((megabytes * clients * 1.048576) / taken)} MB/s`, `${cells.join(' + ')} s`]
}

async function costs(store, work) {
  const { taken, each } = await secondsOf(store, work)
  return [`${taken.toFixed(1)} s`, `${each.map((seconds) => seconds.toFixed(2)).join(' + ')} s`]
}

/** Returns the seconds that `work` takes, and the processor seconds of each part of the store. */
async function secondsOf(store, work) {
  const before = store.parts.map((part) => part())
  const taken = await timed(work)
  return { taken, each: store.parts.map((part, at) => part() - before[at]) }
}
