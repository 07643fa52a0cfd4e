// One service, one document, and docmount from several work trees in turn: what reads take and what they cost.

import { readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { dropCaches } from '../benchmark/mounts.mjs'
import { runWell } from '../benchmark/processes.mjs'
import { costsOf } from '../benchmark/resources.mjs'
import { makeWork, medianOf, mountTree, restOf, startServiceOf, undoAll } from '../benchmark/work-trees.mjs'
import { readWorkloadOptions } from '../benchmark/workload-options.mjs'

const usage =
  'usage: scripts/bench-reads [--only WORKLOAD[,…]] [--rounds N] [--delay MS] [--mbit N] [--mib N] [ROOT …]'
const mebibyte = 1024 * 1024
const heads = 500
const headBytes = 2 * mebibyte

/** Reads of each workload, and whether the disk cache has them. */
const workloads = {
  random: { what: '4,000 reads of 4 KiB at random places', pattern: 'random', count: 4000, isCached: true },
  'random-8': {
    what: '16,000 of them by 8 threads',
    pattern: 'random',
    count: 16_000,
    threads: 8,
    isCached: true,
  },
  'random-cold': {
    what: '256 reads of 4 KiB at random places, from the service',
    pattern: 'random',
    count: 256,
  },
  'random-more': { what: '4,000 of them, from the service', pattern: 'random', count: 4000 },
  sequence: { what: 'all of it in order', pattern: 'sequence', isCached: true },
  'sequence-cold': { what: 'all of it in order, from the service', pattern: 'sequence' },
  stride: { what: '4 KiB every 68 KiB, from the service', pattern: 'stride' },
  backward: { what: 'backwards by 64 KiB, from the service', pattern: 'backward' },
  interleaved: { what: 'four readers in order on one handle, from the service', pattern: 'interleaved' },
  heads: { what: `first 64 KiB of ${heads} documents of 2 MiB, from the service`, pattern: 'heads' },
  'heads-again': { what: 'the same again, from the kernel’s pages', pattern: 'heads', isAgain: true },
}

const { values, chosen, roots } = readWorkloadOptions({
  usage,
  workloads,
  only: 'random,random-8,sequence',
  options: {
    mbit: { type: 'string' },
    mib: { type: 'string', default: '256' },
  },
})
const { work, undo } = await makeWork('reads')
const samples = new Map()

try {
  const server = await startService()
  const trees = roots.map((root, at) => ({ root, folder: join(work, String(at)) }))
  for (let round = 0; round < Number(values.rounds); round++)
    for (const name of chosen) for (const tree of trees) await measure(tree, name, server, round)
  report(trees)
} finally {
  await undoAll(undo, work)
}

async function startService() {
  const megabits = values.mbit === undefined ? undefined : Number(values.mbit)
  const place = { folder: work, project: 'reads', delayMs: Number(values.delay), megabits, undo }
  const server = await startServiceOf(roots[0], place)
  await put(server.files, '/film.mp4', Number(values.mib) * mebibyte)
  if (chosen.some((name) => workloads[name].pattern === 'heads'))
    for (let at = 0; at < heads; at++) await put(server.files, `/scans/${at}.pdf`, headBytes)
  return server
}

async function put(files, path, size) {
  const { randomFillSync } = await import('node:crypto')
  const content = {
    kind: 'bytes',
    size,
    async *open() {
      for (let at = 0; at < size; at += 262_144)
        yield randomFillSync(Buffer.alloc(Math.min(262_144, size - at)))
    },
  }
  const mimetype = path.endsWith('.pdf') ? 'application/pdf' : 'video/mp4'
  await files.upload(path, { mimetype, filename: basename(path), content })
}

async function measure({ root, folder }, name, server, round) {
  const { pattern, count = 0, threads = 1, isCached = false, isAgain = false } = workloads[name]
  if (isCached) await fillCache(root, folder, server)
  else await rm(join(folder, 'cache'), { recursive: true, force: true })
  await dropCaches()
  await runWell('sh', ['-c', 'find "$1" -type f -exec cat {} + > /dev/null', 'sh', server.dataDir])
  const mounted = await mountTree(root, folder, server, undo)
  const reader = new URL('reader.mjs', import.meta.url).pathname
  const file = join(mounted.mountpoint, pattern === 'heads' ? 'scans' : 'film.mp4')
  const args = [reader, pattern, file, String(count), String(round), String(threads)]
  const read = () => runWell(process.execPath, args, { limitSeconds: 180 })
  if (isAgain) await read()
  if (isAgain) await restOf(mounted.pids)
  const before = costsOf(mounted.pids()).cpuSeconds
  const { output } = await read()
  const cpuSeconds = costsOf(mounted.pids()).cpuSeconds - before
  await mounted.unmount()
  const cachedBytes = await bytesIn(join(folder, 'cache'))
  const sample = { ...JSON.parse(output), cpuSeconds, cachedBytes }
  const key = `${name} ${root}`
  samples.set(key, [...(samples.get(key) ?? []), sample])
  console.error(`${root} ${name}: ${JSON.stringify(sample)}`)
}

/** Reads the document until all of it is on disk: the cache never makes a fast reader wait. */
async function fillCache(root, folder, server) {
  for (let tries = 0; (await bytesIn(join(folder, 'cache'))) < Number(values.mib) * mebibyte; tries++) {
    if (tries === 10) throw new Error('the document is not kept')
    const mounted = await mountTree(root, folder, server, undo)
    await runWell('dd', [`if=${join(mounted.mountpoint, 'film.mp4')}`, 'of=/dev/null', 'bs=1M'])
    await mounted.unmount()
  }
}

async function bytesIn(folder) {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).blocks * 512
  return bytes
}

function report(trees) {
  console.log('| | tree | seconds | MB/s | reads/s | median µs | 99 of 100 within µs | daemon processor s |')
  console.log('|---|---|--:|--:|--:|--:|--:|--:|')
  for (const name of chosen)
    for (const { root } of trees) {
      const of = (field) => medianOf(samples.get(`${name} ${root}`).map((sample) => sample[field]))
      const megabytes = medianOf(
        samples.get(`${name} ${root}`).map(({ bytes, seconds }) => bytes / seconds / 1e6),
      )
      const cells = [of('seconds').toFixed(2), megabytes.toFixed(0), of('perSecond').toFixed(0)]
      cells.push(of('p50').toFixed(0), of('p99').toFixed(0), of('cpuSeconds').toFixed(2))
      console.log(`| ${workloads[name].what} | ${basename(root)} | ${cells.join(' | ')} |`)
    }
}
