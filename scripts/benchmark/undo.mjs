// Price of `docmount mount --undo`: what is replaced and deleted is kept and synced first. Both drives in turn, on one service.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { costsOf } from './machine.mjs'
import { docmount } from './peers/docmount.mjs'
import { runWell } from './processes.mjs'
import { startProxy } from './proxy.mjs'
import { cliOf, drivesEnvironment } from './servers.mjs'
import { median, secondsCell, tableOf } from './table.mjs'

const groups = [
  { what: '30 documents of 10 KB', count: 30, bytes: 10_000 },
  { what: '4 documents of 8 MB', count: 4, bytes: 8_000_000 },
]
const saving =
  'i=0; while [ $i -lt "$2" ]; do head -c "$3" /dev/zero | tr "\\0" "$4" >"$1/$i.txt" || exit; i=$((i+1)); done'

export const undoPrice = { needsRoot: true, run: compare }

async function compare({ work, undo, rounds }) {
  const proxy = startProxy(undo)
  const server = await docmount.start({ folder: work, data: { paths: [] }, proxy, undo })
  const drives = []
  for (const [at, kept] of ['0', '30d'].entries()) {
    const folder = join(work, String(at))
    await mkdir(folder)
    const mountpoint = join(folder, 'mount')
    drives.push({
      folder,
      ...(await docmount.mount({ folder, server, undo, more: ['--undo', kept], mountpoint })),
    })
  }
  const rows = new Map()
  const timed = async (row, at, script, { folder, mountpoint }, ...args) => {
    const whole = `${script}; ${process.execPath} ${cliOf()} wait "$0"`
    const env = drivesEnvironment(folder, server.key)
    const place = join(mountpoint, String(at))
    const { seconds } = await runWell('sh', ['-c', `set -e; ${whole}`, mountpoint, place, ...args], {
      env,
      limitSeconds: 300,
    })
    if (row === undefined) return
    if (!rows.has(row)) rows.set(row, [[], []])
    rows.get(row)[at].push(seconds)
  }
  for (let round = 0; round < rounds; round++) {
    for (const { what, count, bytes } of groups) {
      const each = async (row, script, letter) => {
        // Another one is first each time.
        for (const at of round % 2 === 0 ? [0, 1] : [1, 0])
          await timed(row && `${row} ${what}`, at, script, drives[at], String(count), String(bytes), letter)
      }
      await each(undefined, `mkdir -p "$1"; ${saving}`, 'a')
      await each('save over', saving, 'b')
      await each('save over once more', saving, 'c')
      await each('rm', 'rm "$1"/*.txt', '')
    }
  }
  const lines = [...rows].map(([row, [off, on]]) => [
    row,
    secondsCell(median(off)),
    secondsCell(median(on)),
    `${Math.round((median(on) / median(off) - 1) * 100)} %`,
  ])
  lines.push([
    'processor time of the drive',
    ...drives.map(({ pid }) => secondsCell(costsOf([pid]).cpuSeconds)),
    '',
  ])
  console.log(tableOf(['seconds, until all is sent', '--undo 0', '--undo 30d', 'more'], lines))
}
