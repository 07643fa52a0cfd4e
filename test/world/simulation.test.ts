// The drive in a simulated world. More of it, and a failing seed cut down to its shortest history: scripts/simulate.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { Failure, simulate, type SimulationFigures } from './simulation.ts'

let temporary: TemporaryFolder
let runs = 0

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})

afterEach(() => temporary.remove())

async function run(seed: number, steps: number, isShared = false): Promise<SimulationFigures> {
  const root = join(temporary.path, String(++runs))
  mkdirSync(root)
  try {
    return await simulate({ seed, steps, isShared, root })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const replay = `scripts/simulate --seed ${seed} --events ${steps}${isShared ? ' --shared' : ''}`
    // Not as its cause: a report would print all of its history.
    // oxlint-disable-next-line preserve-caught-error
    throw new Error(`${error.message}\n${replay}\n${error.history.slice(-50).join('\n')}`)
  }
}

it('one seed gives one history, byte for byte', async () => {
  const [one, other] = [await run(5, 200), await run(5, 200)]
  expect(one.operations).toBeGreaterThan(50)
  expect(other).toEqual(one)
})

/** Each failed once, as it was or with one of the fixes of scripts/mutants.jsonl taken back. */
const corpus: readonly (readonly [seed: number, steps: number])[] = [
  [1, 400],
  [2, 400],
  [3, 400],
  [5, 400],
  [6, 400],
  [19, 400],
  [20, 400],
  [24, 400],
  [26, 400],
  [27, 400],
  [45, 400],
  [1037, 400],
  [50041, 400],
  [50051, 400],
  [50077, 400],
  [50087, 400],
  [62071, 1500],
  [65146, 1000],
  [73138, 1000],
  [73181, 1000],
  [74003, 1000],
  [74323, 1000],
  [76275, 1000],
  [120268, 700],
  [310001, 700],
  [310004, 700],
  [310007, 700],
  [310012, 700],
  [330034, 500],
  [330220, 500],
  [330234, 500],
  [400291, 700],
  [400366, 700],
  [700588, 700],
  [800452, 700],
  [800505, 700],
  [840263, 700],
  [880230, 700],
  [900032, 400],
  [1000137, 700],
  [1000182, 700],
  [1000203, 700],
  [1000234, 700],
  [1000245, 700],
  [1000289, 700],
  [1000331, 700],
  [1000367, 700],
  [1000564, 700],
  [1000617, 700],
  [1000642, 700],
  [1200448, 700],
  [1310286, 700],
  [1500123, 700],
  [2201316, 700],
  [2301154, 700],
  [2302096, 700],
  [2401035, 700],
  [2401058, 700],
  [2600051, 700],
  [2600166, 700],
  [2600181, 700],
  [2600253, 700],
  [2900017, 700],
  [3001183, 700],
  [4100056, 700],
  [6100568, 250],
  [6100713, 250],
  [6100892, 250],
  [2024876801, 2000],
]

/** Where another client works in one of the folders. */
const sharedCorpus: readonly (readonly [seed: number, steps: number])[] = [
  [3, 400],
  [5, 400],
  [38, 400],
  [59, 400],
  [68, 1000],
  [79, 1000],
  [106, 1000],
  [124, 1000],
  [205, 1000],
  [1031, 700],
  [3010, 700],
  [3030, 700],
  [3032, 700],
  [7045, 700],
  [7046, 700],
  [7091, 700],
  [8015, 1000],
  [8155, 1000],
  [8200, 1000],
  [9096, 700],
  [9137, 700],
  [9210, 700],
  [9299, 700],
  [9500, 700],
  [93209, 700],
  [93375, 700],
  [93417, 700],
  [94102, 700],
  [94418, 700],
  [95405, 700],
  [111018, 700],
  [112023, 700],
  [130305, 700],
  [340264, 700],
  [420458, 700],
  [500583, 700],
  [820359, 700],
  [820565, 700],
  [820619, 700],
  [820740, 700],
  [820782, 700],
  [860081, 700],
  [860308, 700],
  [920415, 700],
  [950443, 700],
  [953166, 700],
  [970032, 700],
  [970048, 700],
  [970061, 700],
  [1150880, 700],
  [1151092, 700],
  [1151015, 700],
  [1150969, 700],
  [1151597, 700],
  [1151615, 700],
  [1450065, 700],
  [1450241, 700],
  [1451081, 700],
  [1651222, 700],
  [1751430, 700],
  [1951331, 700],
  [1952023, 700],
  [2051126, 700],
  [2151063, 700],
  [2151107, 700],
  [2151194, 700],
  [2650033, 700],
  [2650228, 700],
  [2750142, 700],
  [3050218, 700],
  [6000215, 300],
  [6000262, 300],
  [6200048, 250],
  [6200268, 150],
  [6201005, 150],
  [8100051, 700],
  [8100059, 700],
  [8200158, 700],
  [9100021, 500],
  [9100080, 500],
  [9200075, 500],
  [9200156, 500],
  [2, 2000],
  [6, 2000],
  [15, 2000],
  [24, 2000],
  [30, 2000],
  [31, 2000],
  [52, 2000],
]

/** Long worlds, without kills and with many: only these show what a long life makes a drive keep. */
const longCorpus: readonly (readonly [seed: number, isShared: boolean])[] = [
  [7, false],
  [204, false],
  [202, false],
  [203, true],
]

/** Each seed is a world of its own: a tenth of them shows what a change broke widely. */
const inThisRun = <T>(seeds: readonly T[]): T[] => seeds.filter((_, index) => isThorough || index % 10 === 0)
leaveOut('nine tenths of the simulated worlds that once failed')

it.each(inThisRun(corpus))('nothing is lost with seed %i, %i steps', async (seed, steps) => {
  expect((await run(seed, steps)).quietPeriods).toBeGreaterThan(0)
})

it.each(inThisRun(sharedCorpus))(
  'nothing is lost beside another client with seed %i, %i steps',
  async (seed, steps) => {
    expect((await run(seed, steps, true)).quietPeriods).toBeGreaterThan(0)
  },
)

if (isThorough)
  it.each(longCorpus)(
    'nothing is lost, nor kept for nothing, in 50,000 steps with seed %i (beside another client: %s)',
    { timeout: 1_200_000 },
    async (seed, isShared) => {
      expect((await run(seed, 50_000, isShared)).quietPeriods).toBeGreaterThan(0)
    },
  )
else leaveOut('worlds of 50,000 steps')
