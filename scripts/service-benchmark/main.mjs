// scripts/bench-service: see there.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { arrivals } from './arrivals.mjs'
import { get, largeFiles, put } from './throughput.mjs'
import { nodes } from './nodes.mjs'
import { startRclone, startService } from './servers.mjs'
import { waits } from './waits.mjs'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: 'put,get,large,waits' },
    seconds: { type: 'string' },
    data: { type: 'string', default: tmpdir() },
    documents: { type: 'string', default: '100000' },
    clients: { type: 'string', default: '1,64,256' },
    'large-clients': { type: 'string', default: '1' },
    engines: { type: 'string' },
  },
})
const seconds = Number(options.seconds ?? (options.quick ? 3 : 10))
const wanted = new Set(options.only.split(','))
const folder = mkdtempSync(join(options.data, 'docmount-bench-service-'))
if (wanted.has('nodes')) {
  // PostgreSQL runs as a user of its own, and its folder is in this one.
  chmodSync(folder, 0o711)
  const numbers = (text) => text.split(',').map(Number)
  await nodes(folder, {
    seconds,
    clients: numbers(options.clients),
    megabytes: options.quick ? 64 : 256,
    largeClients: numbers(options['large-clients']),
    documents: Number(options.documents),
    engines: options.engines,
  }).finally(() => rmSync(folder, { recursive: true, force: true }))
  process.exit()
}
// Counting costs: what is measured beside rclone goes without.
const service = await startService(folder, { withMetrics: options.only === 'waits' })
const rclone = await startRclone(folder)
try {
  const rows = []
  if (wanted.has('put')) rows.push(...(await put(service, rclone, seconds)))
  if (wanted.has('get')) rows.push(...(await get(service, rclone, seconds)))
  if (wanted.has('large')) rows.push(...(await largeFiles(service, rclone, options.quick ? 64 : 256)))
  if (rows.length > 0) {
    console.log(
      '| | docmount serve | processor per call | `rclone serve webdav` | processor per call | processor, ours : theirs |\n|---|--:|--:|--:|--:|--:|',
    )
    for (const row of rows) console.log(`| ${row.join(' | ')} |`)
  }
  if (wanted.has('arrivals')) await arrivals(service, 300, seconds)
  if (wanted.has('waits')) await waits(service, options.quick, Number(options.documents))
} finally {
  await service.stop()
  await rclone?.stop()
  rmSync(folder, { recursive: true, force: true })
}
