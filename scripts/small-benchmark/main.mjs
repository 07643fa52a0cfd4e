// Processor time of the daemon for small documents, by work tree: see scripts/bench-small.

import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { dropCaches } from '../benchmark/mounts.mjs'
import { costsOf } from '../benchmark/resources.mjs'
import { run, runWell } from '../benchmark/processes.mjs'
import { makeWork, medianOf, mountTree, restOf, startServiceOf, undoAll } from '../benchmark/work-trees.mjs'
import { readWorkloadOptions } from '../benchmark/workload-options.mjs'
import { countCalls, counted } from './calls.mjs'
import { startLister, workloads } from './workloads.mjs'

const usage =
  'usage: scripts/bench-small [--only WORKLOAD[,…]] [--rounds N] [--count N] [--delay MS] [--trace] [--calls] [ROOT …]'
const { values, chosen, roots } = readWorkloadOptions({
  usage,
  workloads,
  only: Object.keys(workloads).join(),
  options: {
    count: { type: 'string', default: '1000' },
    trace: { type: 'boolean', default: false },
    calls: { type: 'boolean', default: false },
  },
})
const count = Number(values.count)
const { work, undo } = await makeWork('small')
/** By workload and tree: processor and wall seconds. */
const samples = new Map()

try {
  const servers = await startServers()
  const trees = roots.flatMap((root, at) => {
    const tree = { root, name: basename(root), folder: join(work, String(at)), args: [] }
    const traced = {
      ...tree,
      name: `${tree.name} --verbose`,
      folder: `${tree.folder}-verbose`,
      args: ['--verbose'],
    }
    return values.trace ? [tree, traced] : [tree]
  })
  for (let round = 0; round < Number(values.rounds); round++)
    for (const name of chosen) await measure(trees, name, servers, round)
  report(trees)
} finally {
  await undoAll(undo, work)
}

async function startServers() {
  const place = { folder: work, project: 'small', delayMs: Number(values.delay), undo }
  const service = await startServiceOf(roots[0], place)
  return { service, lister: await startLister(work, undo) }
}

/** All trees are mounted at once and take their turns with a part of the work each: whatever else this machine does, they share. */
async function measure(trees, name, servers, round) {
  const workload = workloads[name]
  const parts = workload.parts ?? 10
  const contexts = []
  try {
    for (const [nth, tree] of trees.entries()) {
      const server = servers[workload.server]
      await rm(tree.folder, { recursive: true, force: true })
      await mkdir(tree.folder, { recursive: true })
      const folder = `/${name}-${nth}-${round}`
      const context = { server, folder, parts, count: Math.round(count / parts), run: runWell }
      await workload.prepare?.(context)
      contexts.push({ ...context, tree, seconds: 0 })
    }
    await dropCaches()
    for (const context of contexts) {
      const { tree, server } = context
      context.mounted = await mountTree(tree.root, tree.folder, server, undo, tree.args)
      context.at = (path) => join(context.mounted.mountpoint, path)
      await run('taskset', ['--all-tasks', '--cpu-list', '--pid', '0', String(context.mounted.pid)])
      await workload.warm?.(context)
    }
    for (const context of contexts) {
      await restOf(context.mounted.pids)
      if (values.calls)
        context.calls = await countCalls(context.mounted.pid, join(context.tree.folder, 'calls'))
      context.before = costsOf(context.mounted.pids()).cpuSeconds
    }
    for (let part = 0; part < parts; part++)
      for (let turn = 0; turn < contexts.length; turn++) {
        const context = contexts[(turn + part) % contexts.length]
        const startedAt = performance.now()
        await workload.run(context, part)
        context.seconds += (performance.now() - startedAt) / 1000
      }
    for (const { mounted, before, seconds, tree, calls } of contexts) {
      // The work behind it counts, too: the journal's sync, removed files.
      await restOf(mounted.pids)
      const cpuSeconds = costsOf(mounted.pids()).cpuSeconds - before
      const key = `${name} ${tree.name}`
      const called = await calls?.end()
      samples.set(key, [...(samples.get(key) ?? []), { cpuSeconds, seconds, called }])
      console.error(`${tree.name} ${name}: ${cpuSeconds.toFixed(2)} s of processor, ${seconds.toFixed(2)} s`)
    }
  } finally {
    for (const { mounted } of contexts) await mounted?.unmount()
  }
}

function report(trees) {
  if (values.calls) return reportCalls(trees)
  const title = (name) => workloads[name].title.replace('COUNT', count.toLocaleString('en'))
  console.log(
    '| | tree | daemon processor s, median | least – most | seconds, median |\n|---|---|--:|--:|--:|',
  )
  for (const name of chosen)
    for (const tree of trees) {
      const own = samples.get(`${name} ${tree.name}`)
      const cpu = own.map(({ cpuSeconds }) => cpuSeconds)
      const spread = `${Math.min(...cpu).toFixed(2)} – ${Math.max(...cpu).toFixed(2)}`
      const seconds = medianOf(own.map((sample) => sample.seconds)).toFixed(2)
      console.log(`| ${title(name)} | ${tree.name} | ${medianOf(cpu).toFixed(2)} | ${spread} | ${seconds} |`)
    }
}

/** For each document, or listing. */
function reportCalls(trees) {
  console.log(
    `| calls for each | tree | ${counted.join(' | ')} |\n|---|---|${counted.map(() => '--:').join('|')}|`,
  )
  for (const name of chosen) {
    const { parts = 10, isList = false } = workloads[name]
    const each = isList ? parts : count
    for (const tree of trees) {
      const all = samples.get(`${name} ${tree.name}`).map(({ called }) => called)
      const cells = counted.map((_, at) => (medianOf(all.map((calls) => calls[at])) / each).toFixed(1))
      console.log(`| ${workloads[name].one} | ${tree.name} | ${cells.join(' | ')} |`)
    }
  }
}
