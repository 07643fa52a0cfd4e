// Cost of `docmount mount --attributes`: the kernel then asks for attributes at each `ls -l` and each write. Both drives in turn.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { dropCaches } from './machine.mjs'
import { docmount } from './peers/docmount.mjs'
import { runWell } from './processes.mjs'
import { startProxy } from './proxy.mjs'
import { startLister } from './servers.mjs'
import { median, secondsCell, tableOf } from './table.mjs'

const names = 10_000
const writes = 20_000

export const attributes = { needsRoot: true, run: compare }

async function compare({ work, undo, rounds }) {
  const lister = await startLister(work, 1, names)
  undo.push(lister.stop)
  const service = await docmount.start({ folder: work, data: { paths: [] }, proxy: startProxy(undo), undo })
  const rows = {
    [`ls -l of ${names} names, cold`]: [[], []],
    'ls -l again': [[], []],
    [`${writes} writes of 4 KiB`]: [[], []],
  }
  const [cold, again, written] = Object.values(rows)
  for (let round = 0; round < rounds; round++) {
    for (const [at, more] of [[], ['--attributes']].entries()) {
      const folder = join(work, `${at}-${round}`)
      await mkdir(folder)
      const mounted = (server) =>
        docmount.mount({ folder, server, undo, more, mountpoint: join(folder, 'mount') })
      const listed = await mounted(lister)
      await dropCaches()
      const list = ['-c', 'ls -l "$1"/* | grep -c pdf', 'sh', listed.mountpoint]
      for (const times of [cold, again])
        times[at].push((await runWell('sh', list, { limitSeconds: 120 })).seconds)
      await listed.unmount()
      await docmount.emptyCache(folder)
      const saved = await mounted(service)
      const write = [
        'if=/dev/zero',
        `of=${join(saved.mountpoint, `${round}.pdf`)}`,
        'bs=4k',
        `count=${writes}`,
      ]
      written[at].push((await runWell('dd', write, { limitSeconds: 120 })).seconds)
      await saved.unmount()
    }
  }
  const lines = Object.entries(rows).map(([row, each]) => [
    row,
    ...each.map((times) => secondsCell(median(times))),
  ])
  console.log(tableOf(['seconds', 'without', 'with --attributes'], lines))
}
