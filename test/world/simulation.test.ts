// The drive in a simulated world. More of it, and a failing seed cut down to its shortest history: scripts/simulate.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { Failure, replayOf, simulate, type SimulationFigures, type SimulationOptions } from './simulation.ts'
import type { Sort } from './sorts-of-world.ts'

let temporary: TemporaryFolder
let runs = 0

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})

afterEach(() => temporary.remove())

async function run(world: Omit<SimulationOptions, 'root'>): Promise<SimulationFigures> {
  const root = join(temporary.path, String(++runs))
  mkdirSync(root)
  try {
    return await simulate({ ...world, root })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Not as its cause: a report would print all of its history.
    // oxlint-disable-next-line preserve-caught-error
    throw new Error(`${error.message}\n${replayOf(world)}\n${error.history.slice(-50).join('\n')}`)
  }
}

it('one seed gives one history, byte for byte', async () => {
  const world = { seed: 5, steps: 200 }
  const [one, other] = [await run(world), await run(world)]
  expect(one.operations).toBeGreaterThan(50)
  expect(other).toEqual(one)
})

/** A world that failed once, as it was or with one of the fixes of scripts/mutants.jsonl taken back. */
interface FailedHistory {
  readonly seed: number
  readonly steps: number
  readonly isShared: boolean
  readonly sorts: readonly Sort[]
}

const failedHistories = readFileSync(join(import.meta.dirname, 'failed-histories.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as FailedHistory)
/** Only these show what a long life makes a drive keep. */
const isLong = ({ steps }: FailedHistory): boolean => steps >= 50_000

/** Each is a world of its own: a few of them show what a change broke widely. */
const inThisRun = failedHistories.filter(
  (history, index) => isThorough || (index % 40 === 0 && !isLong(history)),
)
leaveOut('all but a few of the simulated worlds that once failed')
leaveOut('worlds of 50,000 steps')

/** Each of them with undo and without: keeping versions for it is more that goes on at the same time. */
const both = inThisRun.flatMap((history) => {
  if (!isThorough || isLong(history)) return [history]
  const others = history.sorts.filter((sort) => sort !== 'undo')
  const isOn = others.length < history.sorts.length
  return [history, { ...history, sorts: isOn ? others : [...others, 'undo' as const] }]
})

it.each(both)(
  'nothing is lost, nor kept for nothing, with seed $seed, $steps steps (beside another client: $isShared)',
  { timeout: 1_200_000 },
  async ({ sorts, ...history }) => {
    expect((await run({ ...history, sorts: new Set(sorts) })).quietPeriods).toBeGreaterThan(0)
  },
)
