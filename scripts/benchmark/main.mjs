// Main program of all benchmarks: parses the arguments, runs a suite, and cleans up. Suites and options: `scripts/bench --help`.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { attributes } from './attributes.mjs'
import { costs } from './costs.mjs'
import { drive } from './drive.mjs'
import { nodes } from './nodes.mjs'
import { reconcile } from './reconcile-built.mjs'
import { save } from './save.mjs'
import { service } from './service.mjs'
import { trees } from './trees.mjs'
import { undoPrice } from './undo.mjs'
import { webdav } from './webdav.mjs'

/** Each has `run`; optional: `workloads` by name, `usual` (those that run without `--only`), `needsRoot`, `hasRoots`. */
const suites = { drive, costs, trees, save, service, nodes, webdav, reconcile, attributes, undo: undoPrice }
const text = { type: 'string' }
const options = {
  quick: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  tls: { type: 'boolean' },
  only: text,
  peers: text,
  mbit: text,
  names: text,
  seconds: text,
  engines: text,
  rounds: text,
  delays: text,
  data: { type: 'string', default: tmpdir() },
  limit: { type: 'string', default: '60' },
  out: { type: 'string', default: 'bench-results' },
  count: text,
  mib: { type: 'string', default: '256' },
  documents: { type: 'string', default: '100000' },
  clients: { type: 'string', default: '1,64,256' },
  'large-clients': { type: 'string', default: '1' },
}

const { suite, ...context } = readArguments()
const work = await mkdtemp(join(context.options.data, 'docmount-bench-'))
// davfs2 and PostgreSQL run as users of their own, and have folders in this one.
await chmod(work, 0o755)
/** Cleanup functions, called at the end, the latest first. */
const undo = []
const stopping = new AbortController()
const stop = () => {
  stopping.abort()
  void undoAll().finally(() => process.exit(130))
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
// The reader of a pipe ended before.
process.stdout.once('error', stop)
try {
  await suite.run({ ...context, work, undo, stopping: stopping.signal })
} catch (error) {
  // After a signal, errors are expected: the suite's servers were stopped.
  if (!stopping.signal.aborted) throw error
} finally {
  await undoAll()
}

async function undoAll() {
  while (undo.length > 0)
    await undo
      .pop()()
      .catch((error) => console.error(error.message))
  await rm(work, { recursive: true, force: true })
}

/** Returns the suite and its options; ends the process on invalid arguments. */
function readArguments() {
  let parsed
  try {
    parsed = parseArgs({ options, allowPositionals: true })
  } catch (error) {
    refuse(error.message)
  }
  const { values, positionals } = parsed
  const name = suites[positionals[0]] === undefined ? 'drive' : positionals.shift()
  const suite = suites[name]
  if (positionals.length > 0 && !suite.hasRoots) refuse(`${positionals[0]}: no such suite`)
  const list = (words) => words?.split(',').filter((word) => word !== '')
  const chosen = list(values.only) ?? suite.usual ?? Object.keys(suite.workloads ?? {})
  const unknown = chosen.find((workload) => suite.workloads?.[workload] === undefined)
  if (unknown !== undefined)
    refuse(`${unknown}: no such workload; there are ${Object.keys(suite.workloads ?? {}).join(', ')}`)
  const delaysMs = list(values.delays)?.map(Number)
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3))
  if (!(rounds >= 1) || delaysMs?.some((ms) => !(ms >= 0))) refuse('--rounds and --delays take numbers')
  if (suite.needsRoot && process.getuid() !== 0) refuse(`${name} mounts and drops caches: run it as root`)
  return {
    suite,
    chosen,
    rounds,
    delaysMs,
    isQuick: values.quick,
    megabits: values.mbit === undefined ? undefined : Number(values.mbit),
    peers: list(values.peers),
    roots: (positionals.length > 0 ? positionals : ['.']).map((root) => resolve(root)),
    options: values,
  }
}

function refuse(why) {
  console.error(`bench: ${why}\nscripts/bench --help tells what it takes`)
  process.exit(2)
}
