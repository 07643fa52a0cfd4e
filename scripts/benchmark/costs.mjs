// Costs of docmount's daemon: memory while a large file is copied in and out, memory for a tree of a million names, processor
// time of an idle drive.

import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { publishTable } from './drive.mjs'
import { costsOf, dropCaches } from './machine.mjs'
import { docmount } from './peers/docmount.mjs'
import { run, runWell } from './processes.mjs'
import { startProxy } from './proxy.mjs'
import { startLister } from './servers.mjs'

const mebibyte = 1024 * 1024
const inMiB = (bytes) => (bytes / mebibyte).toFixed(0)

export const costs = { needsRoot: true, run: runCosts }

async function runCosts({ work, undo, isQuick, options }) {
  const lines = ['| | |', '|---|--:|']
  const tell = (what, value) => {
    lines.push(`| ${what} | ${value} |`)
    console.log(lines.at(-1))
  }
  const place = { mountpoint: join(work, 'mount'), folder: work, undo }
  if (options.names === undefined) await copyMuch(place, isQuick, tell)
  await walkNames(place, Number(options.names ?? (isQuick ? 50 : 1000)), tell)
  if (options.publish) await publishTable('costs', lines.join('\n'))
}

/** Copies a large file into the drive, reads it with empty caches, and measures the idle drive for a minute. */
async function copyMuch(place, isQuick, tell) {
  const { mountpoint, folder, undo } = place
  const { bavail, bsize } = await statfs(folder)
  // The disk needs space for four copies: the file, the spool, the service, the cached blocks.
  const sizeMiB = isQuick ? 256 : bavail * bsize > 20 * 1024 * mebibyte ? 4096 : 2048
  const server = await docmount.start({ folder, data: { paths: [] }, proxy: startProxy(undo), undo })
  const source = join(folder, 'film.mp4')
  await runWell('dd', ['if=/dev/urandom', `of=${source}`, 'bs=1M', `count=${sizeMiB}`], { limitSeconds: 300 })
  const mounted = await docmount.mount({ ...place, server })
  tell('a fresh drive: MiB resident', inMiB(costsOf(mounted.pids()).residentBytes))
  const copied = await runWell('cp', [source, join(mountpoint, 'film.mp4')], { limitSeconds: 600 })
  while ((await server.holds('/')).get('film.mp4') !== sizeMiB * mebibyte) await sleep(200)
  tell(`${sizeMiB} MiB in: seconds of cp`, copied.seconds.toFixed(1))
  tell(`${sizeMiB} MiB in: most MiB resident`, inMiB(costsOf(mounted.pids()).peakBytes))
  await mounted.unmount()
  await docmount.emptyCache(folder)
  await dropCaches()
  const again = await docmount.mount({ ...place, server })
  const read = await runWell('cp', [join(mountpoint, 'film.mp4'), source], { limitSeconds: 600 })
  tell(`${sizeMiB} MiB out: seconds of cp`, read.seconds.toFixed(1))
  tell(`${sizeMiB} MiB out: most MiB resident`, inMiB(costsOf(again.pids()).peakBytes))
  await sleep(5000)
  const before = costsOf(again.pids()).cpuSeconds
  const restSeconds = isQuick ? 10 : 60
  await sleep(restSeconds * 1000)
  tell(`${restSeconds} s of rest: processor seconds`, (costsOf(again.pids()).cpuSeconds - before).toFixed(2))
  await again.unmount()
}

async function walkNames(place, folders, tell) {
  const server = await startLister(place.folder, folders, 1000)
  place.undo.push(server.stop)
  await docmount.emptyCache(place.folder)
  const mounted = await docmount.mount({ ...place, server })
  const walk = ['-c', 'ls -lR "$1" | grep -c pdf', 'sh', place.mountpoint]
  const walked = await run('sh', walk, { limitSeconds: 600 })
  const found = Number(walked.output)
  if (found !== folders * 1000) throw new Error(`the walk found ${found} names: ${walked.complaints}`)
  tell(`ls -lR over ${found} names: seconds`, walked.seconds.toFixed(1))
  const { residentBytes, peakBytes } = costsOf(mounted.pids())
  tell(`${found} names: MiB resident`, inMiB(residentBytes))
  tell(`${found} names: most MiB resident`, inMiB(peakBytes))
  await sleep(40_000)
  tell(`${found} names: MiB resident after their time to live`, inMiB(costsOf(mounted.pids()).residentBytes))
  await mounted.unmount()
}
