// Check that the simulated world (scripts/simulate) finds faults. Each mutant of scripts/mutants.jsonl is applied alone to a copy
// of the sources, and seeds are run until one fails; the script prints that seed and the time. A seed that also fails with the
// unchanged sources proves nothing, and is skipped.
// node scripts/mutants.mjs [--seed S] [--seeds K] [--events N] [--jobs J] [--shared] [--list fixes|mutants] [NAME…]

import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fixes, mutants } from './mutants-list.mjs'

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '40' },
    events: { type: 'string', default: '400' },
    jobs: { type: 'string', default: '1' },
    shared: { type: 'boolean', default: false },
    list: { type: 'string' },
  },
  allowPositionals: true,
})
const root = resolve(import.meta.dirname ?? '.', '..')
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const work = mkdtempSync(join(memory, 'docmount-mutants-'))
const original = join(work, 'original')
const all = [...(values.list === 'mutants' ? [] : fixes), ...(values.list === 'fixes' ? [] : mutants)]
const wanted = all.filter(([name]) => positionals.length === 0 || positionals.includes(name))
const tried = wanted.length
/** By seed: true if a run of the unchanged sources succeeds. */
const succeeds = new Map()
let found = 0
try {
  copySources(original)
  build(original)
  console.log('| taken away | seed | seconds | found by |\n|---|--:|--:|---|')
  await Promise.all(Array.from({ length: Number(values.jobs) }, (_, job) => workAt(join(work, String(job)))))
  console.log(`\n${found} of ${tried} found within ${values.seeds} seeds of ${values.events} steps`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function workAt(folder) {
  copySources(folder)
  for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
    const [name, ...changes] = next
    const sources = new Map()
    for (let at = 0; at < changes.length; at += 3) {
      const [file, from, to] = changes.slice(at, at + 3)
      const path = join(folder, file)
      const source = readFileSync(path, 'utf8')
      sources.set(path, sources.get(path) ?? source)
      const mutated = source.replaceAll(typeof from === 'string' ? from : new RegExp(from, 'g'), () => to)
      if (mutated === source) throw new Error(`${name}: nothing to take away in ${file}`)
      writeFileSync(path, mutated)
    }
    build(folder)
    const { seed, seconds, why } = await search(folder)
    if (why !== undefined) found++
    console.log(`| ${name} | ${seed ?? ''} | ${seconds} | ${why ?? 'not found'} |`)
    for (const [path, source] of sources) writeFileSync(path, source)
  }
}

function copySources(folder) {
  mkdirSync(folder)
  for (const part of ['src', 'test', 'scripts', 'tsconfig.json', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}

function build(folder) {
  const built = join(folder, 'built')
  const tsc = ['-p', join(folder, 'test/tsconfig.build.json'), '--outDir', built]
  execFileSync(join(root, 'node_modules/.bin/tsc'), tsc)
  writeFileSync(join(built, 'package.json'), '{ "type": "module" }')
}

/** Returns the first seed whose run fails, the seconds of one core until then, and why it failed. */
async function search(folder) {
  const first = Number(values.seed)
  const end = first + Number(values.seeds)
  let seconds = 0
  for (let seed = first; seed < end; seed++) {
    const failure = await run(folder, seed, end - seed)
    seconds += failure.seconds
    if (failure.why === undefined) break
    seed = failure.seed
    if (!succeeds.has(seed)) succeeds.set(seed, (await run(original, seed, 1)).why === undefined)
    if (succeeds.get(seed)) return { seed, seconds: seconds.toFixed(1), why: failure.why }
  }
  return { seconds: seconds.toFixed(1) }
}

async function run(folder, seed, seeds) {
  const limits = ['--seed', seed, '--seeds', seeds, '--events', values.events, '--shorten', '0']
  const args = [join(folder, 'built/test/world/simulate-main.js'), ...limits.map(String)]
  if (values.shared) args.push('--shared')
  const { error, stdout, stderr } = await new Promise((done) => {
    const options = { timeout: 120_000 * seeds, env: { ...process.env, TMPDIR: memory } }
    execFile(process.execPath, args, options, (error, stdout, stderr) => done({ error, stdout, stderr }))
  })
  const [, total, perSecond] = /(\d+) operations \(\d+\/s, (\d+) per second/.exec(stdout) ?? []
  const seconds = Number(total) / Number(perSecond)
  if (error === null) return { seconds }
  if (error.killed) return { seed: seed + seeds, seconds: 120 * seeds, why: 'no end' }
  const [, at, why] = /seed (\d+) fails after [^:]*: (.*)/.exec(stderr) ?? [
    undefined,
    seed,
    stderr.slice(0, 80),
  ]
  return { seed: Number(at), seconds, why: why.replaceAll('|', '/').slice(0, 90) }
}
