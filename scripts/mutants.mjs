// What the simulated world finds: each of scripts/mutants-list.mjs takes something away that keeps documents safe, alone, in a
// copy of the sources, and the seeds until a run fails are counted, with the time that took.
// node scripts/mutants.mjs [--seeds K] [--events N] [--jobs J] [--list fixes|mutants] [NAME…]

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
    seeds: { type: 'string', default: '40' },
    events: { type: 'string', default: '400' },
    jobs: { type: 'string', default: '1' },
    list: { type: 'string' },
  },
  allowPositionals: true,
})
const root = resolve(import.meta.dirname ?? '.', '..')
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const work = mkdtempSync(join(memory, 'docmount-mutants-'))
const all = [...(values.list === 'mutants' ? [] : fixes), ...(values.list === 'fixes' ? [] : mutants)]
const wanted = all.filter(([name]) => positionals.length === 0 || positionals.includes(name))
const tried = wanted.length
let found = 0
try {
  console.log('| taken away | seeds | seconds | found by |\n|---|--:|--:|---|')
  await Promise.all(Array.from({ length: Number(values.jobs) }, (_, job) => workAt(join(work, String(job)))))
  console.log(`\n${found} of ${tried} found within ${values.seeds} seeds of ${values.events} steps`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function workAt(folder) {
  mkdirSync(folder)
  for (const part of ['src', 'test', 'scripts', 'tsconfig.json', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
    const [name, file, from, to] = next
    const path = join(folder, file)
    const source = readFileSync(path, 'utf8')
    const mutated = source.replaceAll(typeof from === 'string' ? from : new RegExp(from, 'g'), () => to)
    if (mutated === source) throw new Error(`${name}: nothing to take away in ${file}`)
    writeFileSync(path, mutated)
    const { seeds, seconds, why } = await search(folder)
    if (why !== undefined) found++
    console.log(`| ${name} | ${why === undefined ? '' : seeds} | ${seconds} | ${why ?? 'not found'} |`)
    writeFileSync(path, source)
  }
}

/** After how many seeds, and seconds of one core, a run fails, and with what. */
async function search(folder) {
  const built = join(folder, 'built')
  rmSync(built, { recursive: true, force: true })
  mkdirSync(built)
  const tsc = ['-p', join(folder, 'test/tsconfig.build.json'), '--outDir', built]
  execFileSync(join(root, 'node_modules/.bin/tsc'), tsc)
  writeFileSync(join(built, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(built, 'node_modules'))
  const { seeds, events } = values
  const limits = ['--seed', '1', '--seeds', seeds, '--events', events, '--shorten', '0']
  const args = [join(built, 'test/world/simulate-main.js'), ...limits]
  const { error, stdout, stderr } = await new Promise((done) => {
    const options = { timeout: 600_000, env: { ...process.env, TMPDIR: memory } }
    execFile(process.execPath, args, options, (error, stdout, stderr) => done({ error, stdout, stderr }))
  })
  const [, total, perSecond] = /(\d+) operations \(\d+\/s, (\d+) per second/.exec(stdout) ?? []
  const seconds = (Number(total) / Number(perSecond)).toFixed(1)
  if (error === null) return { seconds }
  if (error.killed) return { seeds: '?', seconds: '600', why: 'no end' }
  const [, seed, why] = /seed (\d+) fails after [^:]*: (.*)/.exec(stderr) ?? [
    undefined,
    '?',
    stderr.slice(0, 80),
  ]
  return { seeds: seed, seconds, why: why.replaceAll('|', '/').slice(0, 90) }
}
