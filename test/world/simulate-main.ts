// Runs the simulated world from the command line: scripts/simulate says how. Many seeds are run in processes of their own, one after
// another; with --jobs so many at once, each of which takes every so manieth seed.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Failure, replayOf, simulate, type SimulationFigures, type SimulationOptions } from './simulation.ts'
import { read, shortest, written } from './shortest.ts'
import { sortsIn, type Sort } from './sorts-of-world.ts'

const options = {
  seed: { type: 'string' },
  events: { type: 'string', default: '2000' },
  seeds: { type: 'string' },
  minutes: { type: 'string' },
  long: { type: 'string', default: '200' },
  jobs: { type: 'string', default: '1' },
  stride: { type: 'string', default: '1' },
  shorten: { type: 'string', default: '60' },
  keep: { type: 'string' },
  sorts: { type: 'string' },
  history: { type: 'boolean', default: false },
  'go-on': { type: 'boolean', default: false },
  shared: { type: 'boolean', default: false },
} as const

/** A process takes so many: libsql closes a file when its statements are collected, and only so many may be open. */
const seedsOfAProcess = 200

/** Of all worlds of this run; undefined: each draws its own. */
let sorts: ReadonlySet<Sort> | undefined
const values = given()

/** Ends the process where the command line cannot be understood, in a line. */
function given(): ReturnType<typeof parseArgs<{ options: typeof options }>>['values'] {
  try {
    const { values } = parseArgs({ options })
    const { seed, events, seeds, minutes, long, jobs, stride, shorten } = values
    for (const [name, text] of Object.entries({ seed, events, seeds, minutes, long, jobs, stride, shorten }))
      if (text !== undefined && (text === '' || !(Number(text) >= 0)))
        throw new Error(`--${name} takes a number, not '${text}'`)
    sorts = values.sorts === undefined ? undefined : sortsIn(values.sorts)
    return values
  } catch (error) {
    const [line = ''] = (error as Error).message.split(/\.? To specify|\n/)
    console.error(`simulate: ${line}; scripts/simulate --help tells what it takes`)
    process.exit(2)
  }
}

/** Steps of a long world: enough to show what a long life makes a drive keep. */
const longSteps = 50_000
const firstSeed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const jobs = Number(values.jobs)
const stride = Number(values.stride)
const only = values.keep === undefined ? undefined : new Set(read(values.keep))
const isOne = values.seeds === undefined && values.minutes === undefined
/** Of many worlds some are long. */
const oneInSoMany = isOne ? 0 : Number(values.long)
let mostSeeds = isOne ? 1 : Number(values.seeds ?? Infinity)
const beganAt = performance.now()
const endsAt = beganAt + Number(values.minutes ?? Infinity) * 60_000

interface Total {
  seeds: number
  lastSeed: number
  failed: number[]
  operations: number
  calls: number
  events: number
  faults: number
  kills: number
  cuts: number
  quietPeriods: number
  virtualHours: number
  cpuSeconds: number
}

const total: Total = {
  seeds: 0,
  lastSeed: firstSeed,
  failed: [],
  operations: 0,
  calls: 0,
  events: 0,
  faults: 0,
  kills: 0,
  cuts: 0,
  quietPeriods: 0,
  virtualHours: 0,
  cpuSeconds: 0,
}

const running = new Set<ChildProcess>()
if (isOne || process.send !== undefined) await oneAfterAnother()
else await inProcesses()
if (process.send === undefined) console.log(summary())
if (total.failed.length > 0) process.exitCode = 1

async function inProcesses(): Promise<void> {
  process.once('SIGTERM', () => {
    // One that has come to no end hears of nothing else.
    for (const child of running) child.kill('SIGKILL')
    process.exit(143)
  })
  await Promise.all(Array.from({ length: jobs }, (_, job) => everySoManieth(firstSeed + job)))
}

/** Every so manieth seed from `seed` on, a process after another. */
async function everySoManieth(seed: number): Promise<void> {
  const flags = (['history', 'go-on', 'shared'] as const)
    .filter((name) => values[name])
    .map((name) => `--${name}`)
  const numbers = ['--events', values.events, '--long', values.long, '--shorten', values.shorten]
  const named = values.sorts === undefined ? [] : ['--sorts', values.sorts]
  const rest = ['--stride', String(jobs), ...numbers, ...named, ...flags]
  let left = Math.ceil(mostSeeds / jobs)
  for (let first = seed; left > 0; first += jobs * seedsOfAProcess) {
    const seeds = Math.min(left, seedsOfAProcess)
    left -= seeds
    const minutes = (endsAt - performance.now()) / 60_000
    if (minutes <= 0) return
    const limits = ['--seeds', String(seeds), ...(minutes < Infinity ? ['--minutes', String(minutes)] : [])]
    const child = fork(import.meta.filename, ['--seed', String(first), ...limits, ...rest])
    running.add(child)
    let part: Total | undefined
    child.on('message', (told) => (part = told as Total))
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    running.delete(child)
    if (part !== undefined) add(part)
    if (code === 0) continue
    if (code !== 1)
      console.error(`a process ended with ${signal ?? code} behind seed ${part?.lastSeed ?? 'none'}`)
    process.exitCode = 1
    if (!values['go-on']) return
  }
}

function add(part: Total): void {
  for (const name of Object.keys(total) as (keyof Total)[]) {
    if (name === 'failed') total.failed.push(...part.failed)
    else if (name === 'lastSeed') total.lastSeed = Math.max(total.lastSeed, part.lastSeed)
    else total[name] += part[name]
  }
}

async function oneAfterAnother(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'docmount-simulate-'))
  let runs = 0
  /** A folder of its own for each: what an earlier one left open is none of its business. */
  const run = async (seed: number, kept: ReadonlySet<number> | undefined): Promise<SimulationFigures> => {
    const folder = join(root, String(++runs))
    mkdirSync(folder)
    try {
      return await simulate({ ...worldOf(seed), only: kept, root: folder })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  try {
    for (let seed = firstSeed; ; seed += stride) {
      total.lastSeed = seed
      total.seeds++
      try {
        const figures = await run(seed, only)
        count(figures)
        if (isOne) console.log(JSON.stringify(figures))
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        count(error.figures)
        total.failed.push(seed)
        await report(seed, error, run)
        if (!values['go-on']) mostSeeds = total.seeds
      }
      const { user, system } = process.cpuUsage()
      total.cpuSeconds = (user + system) / 1e6
      process.send?.(total)
      if (total.seeds >= mostSeeds || performance.now() >= endsAt) break
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function stepsOf(seed: number): number {
  return oneInSoMany > 0 && seed % oneInSoMany === 0 ? longSteps : Number(values.events)
}

function worldOf(seed: number): Omit<SimulationOptions, 'root'> {
  return { seed, steps: stepsOf(seed), isShared: values.shared, sorts }
}

function count(figures: SimulationFigures): void {
  total.events += figures.events
  total.operations += figures.operations
  total.calls += figures.calls
  total.faults += figures.faults
  total.kills += figures.kills
  total.cuts += figures.cuts
  total.quietPeriods += figures.quietPeriods
  total.virtualHours += figures.virtualMs / 3_600_000
}

async function report(
  seed: number,
  error: Failure,
  run: (seed: number, kept: ReadonlySet<number>) => Promise<unknown>,
): Promise<void> {
  const seconds = ((performance.now() - beganAt) / 1000).toFixed(1)
  console.error(`seed ${seed} fails after ${seconds} s, ${total.operations} operations: ${error.message}`)
  const line = `${replayOf(worldOf(seed))} --history`
  if (values.history) {
    console.error(error.history.join('\n'))
    return
  }
  if (Number(values.shorten) === 0) {
    console.error(`replay: ${line}`)
    return
  }
  const found = await shortest(error, Number(values.shorten) * 1000, (kept) =>
    run(seed, kept).then(
      () => undefined,
      (again: unknown) => (again instanceof Failure ? again : undefined),
    ),
  )
  const { failure, kept } = found
  console.error(`${failure.history.slice(-200).join('\n')}\n${failure.message}`)
  console.error(`replay of ${kept.length} steps: ${line} --keep ${written(kept)}`)
}

function summary(): string {
  const seconds = (performance.now() - beganAt) / 1000
  const perSecond = (what: number): string =>
    `${(what / seconds).toFixed(0)}/s, ${(what / total.cpuSeconds).toFixed(0)} per second of one core`
  return (
    `seeds ${firstSeed} to ${total.lastSeed}, ${seconds.toFixed(1)} s: ${total.operations} operations ` +
    `(${perSecond(total.operations)}), ${total.calls} calls (${perSecond(total.calls)}), ${total.events} events (${perSecond(total.events)}), ` +
    `${total.faults} faults, ${total.kills} kills, ${total.cuts} cuts, ${total.quietPeriods} times left alone, ` +
    `${total.virtualHours.toFixed(1)} hours; ${total.failed.length} of ${total.seeds} seeds failed` +
    (total.failed.length > 0 ? `: ${total.failed.join()}` : '')
  )
}
