// The benchmark: every group of workloads on every peer, at every delay, round after round, peer by peer in turn.

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem, release } from 'node:os'
import { join } from 'node:path'
import { chartOf } from './chart.mjs'
import { dataShape, makeData } from './data.mjs'
import { isMounted, unmount } from './mounts.mjs'
import { readOptions } from './options.mjs'
import { davfs2 } from './peers/davfs2.mjs'
import { docmount } from './peers/docmount.mjs'
import { memory } from './peers/memory.mjs'
import { rclone } from './peers/rclone.mjs'
import { s3fs } from './peers/s3fs.mjs'
import { sshfs } from './peers/sshfs.mjs'
import { run, sleep } from './processes.mjs'
import { publishFile, publishTable } from './publish.mjs'
import { startProxy } from './proxy.mjs'
import { Session } from './session.mjs'
import { costsTable, median, mediansOf, processorTable, spreadTable, tableOf } from './table.mjs'
import { scheme } from './tls.mjs'
import { groups } from './workloads.mjs'

const options = readOptions(process.argv.slice(2))
if (process.getuid() !== 0) {
  console.error("The benchmark mounts, and drops the kernel's caches: run it as root (sudo npm run bench).")
  process.exit(1)
}

const log = (line) => console.error(line)
const shape = dataShape(options.isQuick)
const work = await mkdtemp(join(tmpdir(), 'docmount-bench-'))
// davfs2's daemon is a user of its own and has to get at its cache folder.
await chmod(work, 0o755)
/** Steps to undo at the end, newest last. */
const undo = []
const samples = []
const costSamples = []
const absent = {}
/** Attempts that took longer than the limit once; later rounds leave them out. */
const givenUp = new Set()
const versions = {}

let isStopping = false
let starting
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    if (isStopping) return
    isStopping = true
    log(`stopped by ${signal}: cleaning up`)
    void cleanUp().finally(() => process.exit(130))
  })
}

try {
  await measureAll()
  await report()
} finally {
  if (!isStopping) await cleanUp()
}

async function measureAll() {
  log(`making the documents in ${work}`)
  const data = await makeData(join(work, 'data'), shape)
  const proxy = startProxy()
  undo.push(() => proxy.stop())

  const contestants = []
  for (const peer of [docmount, rclone, sshfs, s3fs, davfs2, memory]) {
    if (isStopping) return
    if (!isWanted(peer.name)) continue
    const reason = await peer.absence()
    if (reason !== undefined) {
      absent[peer.name] = reason
      continue
    }
    log(`starting the server for ${peer.name}`)
    const folder = join(work, peer.name)
    await mkdir(folder)
    try {
      starting = peer.start({ folder, data, proxy })
      const server = await starting
      undo.push(() => server.stop())
      contestants.push({ peer, server, folder, flavour: undefined, label: peer.name })
      if (peer === docmount) {
        contestants.push({ peer, server, folder, flavour: 'write-back', label: 'docmount -w0' })
      }
      versions[peer.name] = await peer.version?.()
    } catch (error) {
      absent[peer.name] = `its server did not start: ${error.message.slice(0, 300)}`
    }
  }
  for (const [name, reason] of Object.entries(absent)) log(`absent: ${name}, ${reason}`)

  for (let round = 0; round < options.rounds; round++) {
    for (const delayMs of options.delaysMs) {
      await proxy.setLink({ delayMs, megabits: options.megabits })
      for (const group of options.groups ?? Object.keys(groups)) {
        if (groups[group] === undefined) throw new Error(`no such workload: ${group}`)
        log(`— round ${round + 1}, ${delayMs} ms, ${group}`)
        // Another one begins each time.
        for (let turn = 0; turn < contestants.length; turn++) {
          if (isStopping) return
          const contestant = contestants[(turn + round) % contestants.length]
          await measure(contestant, group, { round, delayMs, data })
        }
        if (isWanted('undici')) await measureUndici(contestants, group, { round, delayMs, data })
      }
    }
  }
}

async function measure({ peer, server, folder, flavour, label }, group, { round, delayMs, data }) {
  if (flavour === 'write-back' && !['copy-in', 'write', 'save-over', 'save-over-small'].includes(group))
    return
  // A limit reads from memory, which knows no network.
  if (peer.isLimit && delayMs > 0) return
  const attempt = [label, delayMs, group].join(' ')
  if (givenUp.has(attempt)) return
  const { limitSeconds } = options
  const session = new Session({ peer, server, folder, flavour, label, data, shape, round, limitSeconds, log })
  try {
    await groups[group](session)
  } catch (error) {
    log(`${label} ${group}: ${error.stack}`)
    session.results[group] ??= `failed: ${error.message}`
  } finally {
    await session.close().catch((error) => log(`${label} ${group}: ${error.message}`))
    if (!peer.isLimit && (await isMounted(session.mountpoint))) await unmount(session.mountpoint)
  }
  for (const [row, value] of Object.entries(session.results)) {
    samples.push({ delayMs, round, column: label, row, value, cpuSeconds: session.processor[row] })
    if (typeof value === 'string' && value.startsWith('>')) givenUp.add(attempt)
  }
  costSamples.push({ delayMs, round, column: label, group, ...session.costs })
}

async function measureUndici(contestants, group, { round, delayMs, data }) {
  const server = contestants.find(({ peer }) => peer === docmount)?.server
  if (server === undefined) return
  const { baseUrl, key, project } = server
  const task = { group, baseUrl, key, project, source: data.source, count: shape.randomReads, round }
  const script = new URL('undici-alone.mjs', import.meta.url).pathname
  const { code, output, complaints } = await run(process.execPath, [script, JSON.stringify(task)], {
    limitSeconds: options.limitSeconds,
  })
  if (code !== 0) log(`undici ${group}: ${complaints}`)
  for (const line of output.split('\n').filter(Boolean)) {
    const { row, seconds } = JSON.parse(line)
    log(`${'undici'.padEnd(22)} ${row.padEnd(20)} ${seconds.toFixed(3)}`)
    samples.push({ delayMs, round, column: 'undici', row, value: seconds })
  }
}

async function report() {
  const columns = new Set(samples.map(({ column }) => column))
  const peers = ['rclone', 'sshfs', 's3fs', 'davfs2'].filter((name) => columns.has(name))
  const limits = ['undici', 'memory'].filter((name) => columns.has(name))
  const medians = mediansOf(samples)
  const costs = costsOf(costSamples)
  const tablesWith = (shownLimits) =>
    options.delaysMs.map((delayMs) =>
      tableOf(medians, delayMs, { peers, limits: shownLimits, megabits: options.megabits }),
    )
  const spreads = options.delaysMs.map((delayMs) =>
    spreadTable(
      samples,
      delayMs,
      ['docmount', 'docmount -w0', ...peers].filter((column) => columns.has(column)),
    ),
  )
  const missing = Object.entries(absent).map(([name, reason]) => `${name}: ${reason}`)
  const machine = {
    processor: cpus()[0].model,
    processors: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
  }
  const facts = [
    ...(scheme === 'https' ? ['docmount and its service speak TLS.'] : []),
    ...(options.isQuick ? ['With `--quick`: a fifth of the data, a quarter of the large files.'] : []),
    `${isStopping ? 'Interrupted: medians of what was measured by then' : `Medians of ${options.rounds} round(s)`}. ${machine.processors} × ${machine.processor}, Linux ${machine.kernel}, Node ${machine.node}.`,
    `Peers: ${peers.map((name) => versions[name] ?? name).join('; ')}.`,
    missing.length > 0 ? `Absent: ${missing.join('; ')}.` : 'No peer is absent.',
  ]
  const text = [
    ...tablesWith(limits),
    ...spreads.filter((text) => text !== ''),
    processorTable(samples, { peers, shape }),
    costsTable(costs, { peers }),
    ...facts,
  ].join('\n\n')
  console.log(text)
  await mkdir(options.out, { recursive: true })
  const name = options.isQuick ? 'quick' : 'bench'
  const whole = {
    at: new Date().toISOString(),
    machine,
    versions,
    absent,
    shape,
    rounds: options.rounds,
    medians,
    costs,
    samples,
  }
  // An interrupted run is shown, not published.
  const isPublished = options.isPublished && !isStopping
  const files = {
    [`${name}.json`]: `${JSON.stringify(whole, undefined, 1)}\n`,
    [`${name}.md`]: `${text}\n`,
    [`${name}.svg`]: chartOf(medians, { delaysMs: options.delaysMs, peers }),
  }
  for (const [file, content] of Object.entries(files)) {
    await writeFile(join(options.out, file), content)
    if (isPublished && !file.endsWith('.md')) await publishFile(file, content)
  }
  if (isPublished) await publishTable('bench', [...tablesWith([]), ...facts].join('\n\n'))
  log(`written to ${options.out}: ${name}.json, ${name}.md, ${name}.svg`)
}

/** The most memory of any mount; processor time summed over the groups of a round, median over rounds and delays. */
function costsOf(all) {
  const costs = {}
  for (const column of new Set(all.map((sample) => sample.column))) {
    const own = all.filter((sample) => sample.column === column)
    const perRound = new Map()
    for (const { round, delayMs, cpuSeconds } of own) {
      const key = `${round}/${delayMs}`
      perRound.set(key, (perRound.get(key) ?? 0) + cpuSeconds)
    }
    costs[column] = {
      peakBytes: Math.max(...own.map(({ peakBytes }) => peakBytes)),
      cpuSeconds: median([...perRound.values()]),
    }
  }
  return costs
}

function isWanted(name) {
  return options.peers === undefined || options.peers.includes(name)
}

async function cleanUp() {
  for (const name of ['docmount', 'rclone', 'sshfs', 's3fs', 'davfs2', 'memory']) {
    const mountpoint = join(work, name, 'mount')
    if (await isMounted(mountpoint))
      await unmount(mountpoint, { limitSeconds: 5 }).catch((error) => log(error.message))
  }
  // A server that is just starting is stopped, too.
  await Promise.race([starting, sleep(30_000)]).catch(() => {})
  while (undo.length > 0)
    await undo
      .pop()()
      .catch((error) => log(error.message))
  if (options.isKept) log(`kept: ${work}`)
  else await rm(work, { recursive: true, force: true })
}
