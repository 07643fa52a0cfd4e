// Comparison of docmount from several built work trees, in turn with one service: duration and the daemon's processor time of
// starts, reads and small documents. Each measurement starts on a new mount with an empty cache of the kernel.

import { randomFillSync } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { cpus } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { costsOf, dropCaches, restOf } from './machine.mjs'
import { docmount } from './peers/docmount.mjs'
import { parallel, run, runWell } from './processes.mjs'
import { startProxy } from './proxy.mjs'
import { putDocument, startLister } from './servers.mjs'
import { programOf } from './session.mjs'
import { median, tableOf, timed } from './table.mjs'

const mebibyte = 1024 * 1024
const scans = 500
const names = 2000
const listings = 8
const newBytes = 8 * 1024
const savedBytes = 2000
const warmCount = 100

/**
 * `parts`: number of turns of each tree, so that other load on the machine affects all trees alike. `warm` runs before and is not
 * measured: afterwards code is compiled, and folders are listed. `isAlone`: the daemon runs on the first processor only.
 */
export const workloads = {
  start: { title: 'docmount mount, until the drive is there' },
  random: reads('4,000 reads of 4 KiB at random places', 'random', { count: 4000, isCached: true }),
  'random-8': reads('16,000 of them by 8 threads', 'random', { count: 16_000, threads: 8, isCached: true }),
  sequence: reads('all of it in order', 'sequence', { isCached: true }),
  'random-cold': reads('256 reads of 4 KiB at random places, from the service', 'random', { count: 256 }),
  'random-more': reads('4,000 of them, from the service', 'random', { count: 4000 }),
  'sequence-cold': reads('all of it in order, from the service', 'sequence'),
  stride: reads('4 KiB every 68 KiB, from the service', 'stride'),
  backward: reads('backwards by 64 KiB, from the service', 'backward'),
  interleaved: reads('four readers in order on one handle, from the service', 'interleaved'),
  large: {
    title: 'a large document written, sent',
    async run({ mountpoint, name, server, filmBytes }) {
      const document = `${name.slice(1)}.mp4`
      const args = [
        'if=/dev/zero',
        `of=${join(mountpoint, document)}`,
        'bs=1M',
        `count=${filmBytes / mebibyte}`,
      ]
      await runWell('dd', args, { limitSeconds: 300 })
      while ((await server.holds('/')).get(document) !== filmBytes) await sleep(50)
    },
  },
  heads: reads(`first 64 KiB of ${scans} documents of 2 MiB, from the service`, 'heads'),
  new: small('COUNT new documents of 8 KiB: created, written, closed, sent', {
    warm: (context) => save(context, 'warm', newBytes),
    run: (context, part) => save(context, part, newBytes),
  }),
  over: small('COUNT documents of 2 KB saved over', {
    prepare: (context, part) => put(context, part, savedBytes + 1),
    warm: (context) => save(context, 'warm', savedBytes),
    run: (context, part) => save(context, part, savedBytes),
  }),
  read: small('COUNT documents of 8 KiB read, cold', {
    prepare: (context, part) => put(context, part, newBytes),
    warm: (context) => readHeads(context, 'warm'),
    run: readHeads,
  }),
  'list-first': {
    title: `the first ls -l after the start, ${names.toLocaleString('en')} names, cold`,
    isListed: true,
    isAlone: true,
    run: (context) => list(context, 0),
  },
  list: {
    title: `${listings} times ls -l of another folder of ${names.toLocaleString('en')} names, cold`,
    isListed: true,
    isAlone: true,
    parts: listings,
    async warm(context) {
      for (const nth of [1, 2]) await list(context, nth)
    },
    run: (context, part) => list(context, part + 3),
  },
}

export const trees = {
  workloads,
  usual: Object.keys(workloads).filter((name) => !['random-more', 'backward', 'interleaved'].includes(name)),
  needsRoot: true,
  hasRoots: true,
  run: compare,
}

async function compare({ work, undo, roots, chosen, rounds, delaysMs = [0], megabits, options, isQuick }) {
  const proxy = startProxy(undo)
  await proxy.setLink({ delayMs: delaysMs[0], megabits })
  const service = await docmount.start({ folder: work, data: { paths: [] }, proxy, undo, root: roots[0] })
  const lister = await startLister(work, 101, names)
  undo.push(lister.stop)
  const count = Number(options.count ?? (isQuick ? 200 : 1000))
  const filmBytes = Number(options.mib) * mebibyte
  const patterns = new Set(chosen.map((name) => workloads[name].pattern))
  if (patterns.size > 1 || !patterns.has(undefined))
    await putDocument(service.files, '/film.mp4', randomFillSync(Buffer.alloc(filmBytes)))
  if (patterns.has('heads'))
    for (let at = 0; at < scans; at++)
      await putDocument(service.files, `/scans/${at}.pdf`, randomFillSync(Buffer.alloc(2 * mebibyte)))
  const samples = new Map()
  for (let round = 0; round < rounds; round++)
    for (const name of chosen) {
      const workload = workloads[name]
      const contexts = []
      for (const [at, root] of roots.entries()) {
        const folder = join(work, String(at))
        const server = workload.isListed ? lister : service
        const place = { root, folder, server, undo, mountpoint: join(folder, 'mount') }
        contexts.push({ ...place, round, filmBytes, name: `/${name}-${at}-${round}`, workload, count })
      }
      await measure(workload, contexts)
      for (const { root, sample } of contexts) {
        const key = `${name} ${root}`
        samples.set(key, [...(samples.get(key) ?? []), sample])
        console.error(`${root} ${name}: ${JSON.stringify(sample)}`)
      }
    }
  const head = ['', 'tree', 'seconds', 'daemon processor s', 'least – most']
  head.push('MB/s', 'reads/s', 'median µs', '99 of 100 within µs')
  const lines = chosen.flatMap((name) =>
    roots.map((root) => {
      const own = samples.get(`${name} ${root}`)
      const of = (field, digits) => {
        const values = own.map((sample) => sample[field])
        return values.includes(undefined) ? '' : median(values).toFixed(digits)
      }
      const cpu = own.map(({ cpuSeconds }) => cpuSeconds)
      const spread = `${Math.min(...cpu).toFixed(2)} – ${Math.max(...cpu).toFixed(2)}`
      const cells = [of('seconds', 2), of('cpuSeconds', 2), spread, of('megabytes', 0), of('perSecond', 0)]
      const title = workloads[name].title.replace('COUNT', count.toLocaleString('en'))
      return [title, basename(root), ...cells, of('p50', 0), of('p99', 0)]
    }),
  )
  console.log(tableOf(head, lines, 2))
}

/** Runs a workload for all trees; sets `sample` of each context. */
async function measure(workload, contexts) {
  const { parts = 1 } = workload
  for (const context of contexts) {
    context.count = Math.round(context.count / parts)
    context.parts = parts
    await rm(join(context.folder, 'state'), { recursive: true, force: true })
    await mkdir(context.folder, { recursive: true })
    if (workload.isCached) await fillCache(context)
    else await docmount.emptyCache(context.folder)
    for (let part = 0; workload.prepare !== undefined && part < parts; part++)
      await workload.prepare(context, part)
    await workload.prepare?.({ ...context, count: warmCount }, 'warm')
  }
  await dropCaches()
  try {
    for (const context of contexts) {
      const took = await timed(async () => (context.mounted = await docmount.mount(context)))
      context.sample = { seconds: took, cpuSeconds: costsOf(context.mounted.pids()).cpuSeconds }
      await runWell('ls', ['-l', context.mountpoint])
      if (workload.isAlone) await moveTo(0, context.mounted.pid)
      await workload.warm?.({ ...context, count: warmCount })
      await restOf(context.mounted.pids)
    }
    if (workload.run === undefined) return
    if (workload.isAlone) await moveTo(cpus().length - 1, process.pid)
    for (const context of contexts) {
      context.before = costsOf(context.mounted.pids()).cpuSeconds
      context.sample = { seconds: 0 }
    }
    for (let part = 0; part < parts; part++)
      for (let turn = 0; turn < contexts.length; turn++) {
        // Another tree is first each time.
        const context = contexts[(turn + part + contexts[0].round) % contexts.length]
        if (workload.pattern !== undefined) await dropCaches()
        await context.server.warm?.()
        let answer
        const seconds = await timed(async () => (answer = await workload.run(context, part)))
        context.sample.seconds += seconds
        if (answer !== undefined)
          context.sample = { ...answer, megabytes: answer.bytes / answer.seconds / 1e6 }
      }
    for (const { mounted, before, sample } of contexts) {
      // Waits for background work, which counts, too: the journal's sync, removal of files.
      if (workload.pattern === undefined) await restOf(mounted.pids)
      sample.cpuSeconds = costsOf(mounted.pids()).cpuSeconds - before
    }
  } finally {
    for (const { mounted } of contexts) await mounted?.unmount()
    if (workload.isAlone) await moveTo(`0-${cpus().length - 1}`, process.pid)
  }
}

function moveTo(processors, pid) {
  return run('taskset', ['--all-tasks', '--cpu-list', '--pid', String(processors), String(pid)])
}

/** Returns a workload that reads one document of `--mib` MiB, from the service or, with `isCached`, from the disk cache. */
function reads(title, pattern, { count = 0, threads = 1, isCached = false } = {}) {
  return {
    title,
    pattern,
    isCached,
    async run({ mountpoint, round }) {
      const file = join(mountpoint, pattern === 'heads' ? 'scans' : 'film.mp4')
      const args = [programOf('reader.mjs'), pattern, file, ...[count, round, threads].map(String)]
      const { output } = await runWell(process.execPath, args, { limitSeconds: 180 })
      return JSON.parse(output)
    },
  }
}

function small(title, steps) {
  return { title, isAlone: true, parts: 10, ...steps }
}

/** Reads the document until all of it is in the disk cache, which skips blocks when it cannot keep up with a reader. */
async function fillCache(context) {
  for (let tries = 0; (await bytesIn(join(context.folder, 'cache'))) < context.filmBytes; tries++) {
    if (tries === 10) throw new Error('the document is not kept')
    const mounted = await docmount.mount(context)
    await runWell('dd', [`if=${join(context.mountpoint, 'film.mp4')}`, 'of=/dev/null', 'bs=1M'])
    await mounted.unmount()
  }
}

async function bytesIn(folder) {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).blocks * 512
  return bytes
}

/** Saves one document after another, and waits until the service has all of them. */
async function save({ mountpoint, name, server, count }, part, bytes) {
  const place = `${name}-${part}`
  const folder = join(mountpoint, place)
  await runWell('mkdir', ['-p', folder])
  await runWell('ls', ['-l', folder])
  const args = [programOf('small-saves.mjs'), folder, String(count), String(bytes)]
  await runWell(process.execPath, args, { limitSeconds: 300 })
  for (let tries = 0; ; tries++) {
    const sizes = [...(await server.holds(place)).values()]
    if (sizes.filter((size) => size === bytes).length === count) return
    if (tries === 600) throw new Error(`${place}: not all of it arrived`)
    await sleep(100)
  }
}

async function readHeads({ mountpoint, name }, part) {
  const args = [programOf('reader.mjs'), 'heads', join(mountpoint, `${name}-${part}`)]
  await runWell(process.execPath, args, { limitSeconds: 300 })
}

/** Lists folders in another order than theirs, because docmount lists the next one ahead. */
async function list({ mountpoint }, nth) {
  await runWell('ls', ['-l', join(mountpoint, `folder-${(nth * 37) % 101}`)])
}

async function put({ server, name, count }, part, bytes) {
  const content = Buffer.alloc(bytes, 'small ')
  await parallel(Array.from({ length: count }), 8, (_, at) =>
    putDocument(server.files, `${name}-${part}/memo-${String(at).padStart(3, '0')}.txt`, content),
  )
}
