// Capacity and needs of N nodes of the service, calculated from measurements of `scripts/bench nodes` and published limits of
// PostgreSQL and S3: the table in docs/service.md.
//   node scripts/service-capacity.mjs [--nodes 10,100,1000] [--put 0.89+0.69] [--get 0.47+0.30] [--uploads-of-one-project 646]
//     [--puts 0.1] [--large 0.5] [--busy 0.7]
// --put, --get: milliseconds of processor time per call, of the node and of the database. --puts: share of uploads in all calls;
// --large: share of documents above 32 KiB, which are in the bucket; --busy: share of a core that may be used.

import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10,100,1000' },
    put: { type: 'string', default: '0.89+0.69' },
    get: { type: 'string', default: '0.47+0.30' },
    'uploads-of-one-project': { type: 'string', default: '646' },
    puts: { type: 'string', default: '0.1' },
    large: { type: 'string', default: '0.5' },
    busy: { type: 'string', default: '0.7' },
  },
})
const [puts, large, busy] = [values.puts, values.large, values.busy].map(Number)
const [putNode, putDatabase] = values.put.split('+').map(Number)
const [getNode, getDatabase] = values.get.split('+').map(Number)
const ofOneProject = Number(values['uploads-of-one-project'])

/** 16 of a node's pool, and 2 for each of up to 4 reconciliation threads. */
const connectionsOfNode = 16 + 2 * 4
/** PostgreSQL's default, without the three that are reserved for superusers. */
const connections = 100 - 3
/** Amazon's limits per second, for each partition of a bucket's keys. */
const [partitionPuts, partitionGets] = [3_500, 5_500]
/** Cores of a large machine that can be rented today. */
const cores = 128

const callsOfNode = (1000 * busy) / (puts * putNode + (1 - puts) * getNode)
const databaseMs = puts * putDatabase + (1 - puts) * getDatabase
const need = (nodes) => {
  const calls = nodes * callsOfNode
  const uploads = calls * puts
  return {
    calls,
    uploads,
    cores: (calls * databaseMs) / 1000 / busy,
    connections: nodes * connectionsOfNode,
    projects: uploads / ofOneProject,
    partitions: Math.max((uploads * large) / partitionPuts, ((calls - uploads) * large) / partitionGets),
  }
}

const counts = values.nodes.split(',').map(Number)
const needs = counts.map(need)
const row = (name, of) => console.log(`| ${[name, ...needs.map(of)].join(' | ')} |`)
const whole = (number) => Math.max(1, Math.ceil(number)).toLocaleString('en')

row('', (_, at) => `${counts[at].toLocaleString('en')} nodes`)
console.log(`|---|${'--:|'.repeat(counts.length)}`)
row('calls a second', (is) => whole(is.calls))
row('… uploads among them', (is) => whole(is.uploads))
row('projects that share the uploads, at least', (is) => whole(is.projects))
row('connections to PostgreSQL', (is) => whole(is.connections))
row('cores of PostgreSQL', (is) => whole(is.cores))
row('partitions of the bucket', (is) => whole(is.partitions))
row('statements a second that count requests, at most', (_, at) => whole(2 * counts[at]))

const one = need(1)
const ends = [
  ['one project takes all the uploads', 1 / one.projects],
  ["PostgreSQL's connections, as many as it has by default", connections / one.connections],
  ['one partition of the bucket', 1 / one.partitions],
  [`a database of ${cores} cores`, cores / one.cores],
]
console.log('\nWhat gives way, in this order:')
for (const [what, nodes] of ends.toSorted((a, b) => a[1] - b[1]))
  console.log(`- ${what}: from ${nodes < 10 ? nodes.toFixed(1) : Math.floor(nodes)} nodes on`)
