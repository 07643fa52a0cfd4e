// Costs of the daemon when there is a lot of everything, and when there is nothing to do: memory of a large copy in and out,
// memory of a tree of a million names, processor time of an idle drive. Run as: node scripts/benchmark/costs.mjs [--quick]

import { once } from 'node:events'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dropCaches, isMounted, unmount } from './mounts.mjs'
import { docmount } from './peers/docmount.mjs'
import { publishTable } from './publish.mjs'
import { run, runWell, sleep, startProgram } from './processes.mjs'
import { startProxy } from './proxy.mjs'
import { costsOf, residentOf } from './resources.mjs'

const isQuick = process.argv.includes('--quick')
const mebibyte = 1024 * 1024
/** `--names N`: the tree of names alone, of N folders of a thousand. */
const namesAt = process.argv.indexOf('--names')
const namesAsked = namesAt === -1 ? undefined : Number(process.argv[namesAt + 1] ?? 1000)
const work = await mkdtemp(join(tmpdir(), 'docmount-costs-'))
const mountpoint = join(work, 'mount')
const undo = []
const lines = ['| | |', '|---|--:|']

try {
  if (namesAsked === undefined) await largeCopy()
  await millionNames()
  if (process.argv.includes('--publish')) await publishTable('costs', lines.join('\n'))
} finally {
  if (await isMounted(mountpoint)) await unmount(mountpoint, { limitSeconds: 5 })
  while (undo.length > 0)
    await undo
      .pop()()
      .catch((error) => console.error(error.message))
  await rm(work, { recursive: true, force: true })
}

/** In: spooled, sent in one piece. Out: through the blocks, cold. Then the drive rests for a minute. */
async function largeCopy() {
  const { bavail, bsize } = await statfs(work)
  const room = bavail * bsize
  // The file itself, the spool, the service's copy, the blocks.
  const sizeMiB = isQuick ? 256 : room > 20 * 1024 * mebibyte ? 4096 : 2048
  const proxy = startProxy()
  undo.push(() => proxy.stop())
  const server = await docmount.start({ folder: work, data: { paths: [] }, proxy })
  undo.push(() => server.stop())
  const source = join(work, 'film.mp4')
  await runWell('dd', ['if=/dev/urandom', `of=${source}`, 'bs=1M', `count=${sizeMiB}`], { limitSeconds: 300 })
  const mounted = await docmount.mount({ mountpoint, folder: work, server })
  tell('a fresh drive: MiB resident', inMiB(residentOf(mounted.pids())))
  const copied = await runWell('cp', [source, join(mountpoint, 'film.mp4')], { limitSeconds: 600 })
  while ((await server.holds('/')).get('film.mp4') !== sizeMiB * mebibyte) await sleep(200)
  tell(`${sizeMiB} MiB in: seconds of cp`, copied.seconds.toFixed(1))
  tell(`${sizeMiB} MiB in: most MiB resident`, inMiB(costsOf(mounted.pids()).peakBytes))
  await mounted.unmount()
  await docmount.emptyCache(work)
  await dropCaches()
  const again = await docmount.mount({ mountpoint, folder: work, server })
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

async function millionNames() {
  const folders = namesAsked ?? (isQuick ? 50 : 1000)
  const script = new URL('listing-server.mjs', import.meta.url).pathname
  const lister = startProgram(process.execPath, [script, String(folders), '1000'], {
    logFile: join(work, 'lister.log'),
  })
  undo.push(() => lister.stop())
  const [port] = await once(lister.child.stdout, 'data')
  const server = { baseUrl: `http://127.0.0.1:${Number(String(port))}/api`, key: 'any', project: 'names' }
  await docmount.emptyCache(work)
  const mounted = await docmount.mount({ mountpoint, folder: work, server })
  const walked = await run('sh', ['-c', 'ls -lR "$1" | grep -c pdf', 'sh', mountpoint], { limitSeconds: 600 })
  const found = Number(walked.output)
  if (found !== folders * 1000) throw new Error(`the walk found ${found} names: ${walked.complaints}`)
  tell(`ls -lR over ${found} names: seconds`, walked.seconds.toFixed(1))
  tell(`${found} names: MiB resident`, inMiB(residentOf(mounted.pids())))
  tell(`${found} names: most MiB resident`, inMiB(costsOf(mounted.pids()).peakBytes))
  await sleep(40_000)
  tell(`${found} names: MiB resident after their time to live`, inMiB(residentOf(mounted.pids())))
  await mounted.unmount()
}

function tell(what, value) {
  const line = `| ${what} | ${value} |`
  lines.push(line)
  console.log(line)
}

function inMiB(bytes) {
  return (bytes / mebibyte).toFixed(0)
}
