// Runs each group of workloads on each peer, for all delays and rounds. Peers take turns.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { dataShape, makeData } from './data.mjs'
import { costsTable, drivesTable, mediansOf, processorTable } from './drive-tables.mjs'
import { groups } from './drive-workloads.mjs'
import { isMounted, unmount } from './machine.mjs'
import { davfs2 } from './peers/davfs2.mjs'
import { docmount } from './peers/docmount.mjs'
import { rclone } from './peers/rclone.mjs'
import { s3fs } from './peers/s3fs.mjs'
import { sshfs } from './peers/sshfs.mjs'
import { startProxy } from './proxy.mjs'
import { scheme } from './servers.mjs'
import { Session } from './session.mjs'

const docs = new URL('../../docs', import.meta.url).pathname
const log = (line) => console.error(line)

export const drive = { workloads: groups, needsRoot: true, run: runDrive }

async function runDrive(context) {
  const { work, undo, rounds, chosen, isQuick, megabits, options, peers, stopping } = context
  const delaysMs = context.delaysMs ?? [0, 20]
  const shape = dataShape(isQuick)
  log(`making the documents in ${work}`)
  const data = await makeData(join(work, 'data'), shape)
  const proxy = startProxy(undo)
  const { contestants, absent, versions } = await startContestants()
  const found = { samples: [], costs: [] }
  /** Combinations of peer, delay and group that exceeded the time limit; later rounds skip them. */
  const givenUp = new Set()
  for (let round = 0; round < rounds; round++) {
    for (const delayMs of delaysMs) {
      await proxy.setLink({ delayMs, megabits })
      for (const group of chosen) {
        log(`— round ${round + 1}, ${delayMs} ms, ${group}`)
        // Another peer is first each time.
        for (let turn = 0; turn < contestants.length; turn++)
          await measure(contestants[(turn + round) % contestants.length], group, { round, delayMs })
      }
    }
    // Written after each round, so that an interrupted run has results.
    await write(round + 1)
  }

  async function startContestants() {
    const started = { contestants: [], absent: {}, versions: {} }
    for (const peer of [docmount, rclone, sshfs, s3fs, davfs2]) {
      if (peers !== undefined && !peers.includes(peer.name)) continue
      const reason = await peer.absence()
      const folder = join(work, peer.name)
      try {
        if (reason !== undefined) throw new Error(reason)
        log(`starting the server for ${peer.name}`)
        await mkdir(folder)
        const server = await peer.start({ folder, data, proxy, undo })
        const mountpoint = join(folder, 'mount')
        undo.push(() => unmount(mountpoint, { limitSeconds: 5 }))
        const contestant = { peer, server, folder, mountpoint, label: peer.name }
        started.contestants.push(contestant)
        if (peer === docmount)
          started.contestants.push({ ...contestant, flavour: 'write-back', label: 'docmount -w0' })
        started.versions[peer.name] = await peer.version?.()
      } catch (error) {
        stopping.throwIfAborted()
        started.absent[peer.name] = error.message.slice(0, 300)
        log(`absent: ${peer.name}, ${started.absent[peer.name]}`)
      }
    }
    return started
  }

  async function measure(contestant, group, { round, delayMs }) {
    const { label, flavour, mountpoint } = contestant
    if (flavour === 'write-back' && !groups[group].isWriteBack) return
    const attempt = [label, delayMs, group].join(' ')
    if (givenUp.has(attempt)) return
    const session = new Session({
      ...contestant,
      data,
      shape,
      round,
      limitSeconds: Number(options.limit),
      log,
    })
    try {
      await groups[group].run(session)
    } catch (error) {
      log(`${label} ${group}: ${error.stack}`)
    } finally {
      await session.close().catch((error) => log(`${label} ${group}: ${error.message}`))
      if (await isMounted(mountpoint)) await unmount(mountpoint)
    }
    stopping.throwIfAborted()
    for (const [row, value] of Object.entries(session.results)) {
      const cpuSeconds = session.processor[row]
      found.samples.push({ delayMs, round, column: label, row, value, cpuSeconds })
      if (typeof value === 'string' && value.startsWith('>')) givenUp.add(attempt)
    }
    found.costs.push({ delayMs, round, column: label, group, ...session.costs })
  }

  async function write(measured) {
    const columns = new Set(found.samples.map(({ column }) => column))
    const beside = Object.keys(versions).filter((name) => name !== 'docmount' && columns.has(name))
    const medians = mediansOf(found.samples)
    const machine = {
      processor: cpus()[0].model,
      processors: cpus().length,
      memoryGiB: Math.round(totalmem() / 1024 ** 3),
      kernel: release(),
      node: process.version,
    }
    const missing = Object.entries(absent).map(([name, reason]) => `${name}: ${reason}`)
    const facts = [
      ...(scheme === 'https' ? ['docmount and its service speak TLS.'] : []),
      ...(isQuick ? ['With `--quick`: a fifth of the data, a quarter of the large files.'] : []),
      `Medians of ${measured} round(s). ${machine.processors} × ${machine.processor}, Linux ${machine.kernel}, Node ${machine.node}.`,
      `Peers: ${beside.map((name) => versions[name] ?? name).join('; ')}.`,
      missing.length > 0 ? `Absent: ${missing.join('; ')}.` : 'No peer is absent.',
    ]
    const tables = delaysMs.map((delayMs) => drivesTable(medians, delayMs, { peers: beside, megabits }))
    const behind = [processorTable(found.samples, { peers: beside, shape }), costsTable(found.costs)]
    const text = [...tables, ...behind, ...facts].filter((part) => part !== '').join('\n\n')
    const at = new Date().toISOString()
    const whole = { at, machine, versions, absent, shape, rounds: measured, medians, ...found }
    const out = resolve(options.out)
    const name = isQuick ? 'quick' : 'bench'
    await mkdir(out, { recursive: true })
    await writeFile(join(out, `${name}.md`), `${text}\n`)
    const json = `${JSON.stringify(whole, undefined, 1)}\n`
    await writeFile(join(out, `${name}.json`), json)
    if (measured < rounds) return
    console.log(text)
    log(`written to ${out}: ${name}.md, ${name}.json`)
    if (!options.publish) return
    await writeFile(join(docs, 'bench', `${name}.json`), json)
    await publishTable('bench', [...tables, ...facts].join('\n\n'))
  }
}

/** Replaces the text between `<!-- name -->` and `<!-- /name -->` in docs/performance.md. */
export async function publishTable(name, text) {
  const file = join(docs, 'performance.md')
  const page = await readFile(file, 'utf8')
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no ${begin} … ${end}`)
  await writeFile(file, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`)
}
