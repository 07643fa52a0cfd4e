// scripts/bench-webdav: see there.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRclone, startService } from '../service-benchmark/servers.mjs'
import { startDocmount } from './docmount.mjs'
import { giveListing, workloads } from './workloads.mjs'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, data: { type: 'string', default: tmpdir() } },
})
const sizes = options.quick
  ? { listed: 1_000, small: 50, largeBytes: 32 * 2 ** 20 }
  : { listed: 10_000, small: 500, largeBytes: 256 * 2 ** 20 }
const folder = mkdtempSync(join(options.data, 'docmount-bench-webdav-'))
const service = await startService(folder)
const rclone = await startRclone(folder)
let docmount
try {
  // Before the drive has looked: what others do later it shows after 30 s.
  await giveListing(sizes.listed, { service, rclone })
  docmount = await startDocmount(folder, service)
  const rows = await workloads(sizes, { service, docmount, rclone })
  console.log('| seconds | docmount webdav | `rclone serve webdav` |\n|---|--:|--:|')
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
} finally {
  await docmount?.stop()
  await service.stop()
  await rclone?.stop()
  rmSync(folder, { recursive: true, force: true })
}
