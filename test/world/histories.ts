// Histories of simulated worlds that failed once, as they were or with one of the fixes of scripts/mutants.jsonl taken back.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { Failure, replayOf, simulate, type SimulationFigures, type SimulationOptions } from './simulation.ts'
import type { Sort } from './sorts-of-world.ts'

export interface FailedHistory {
  readonly seed: number
  readonly steps: number
  readonly isShared: boolean
  readonly sorts: readonly Sort[]
}

export type RunWorld = (world: Omit<SimulationOptions, 'root'>) => Promise<SimulationFigures>

export const failedHistories: readonly FailedHistory[] = readFileSync(
  join(import.meta.dirname, 'failed-histories.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as FailedHistory)

/** Only these show what a long life makes a drive keep. */
export const isLong = ({ steps }: FailedHistory): boolean => steps >= 15_000

/** Makes a temporary folder for each test of the file; returns a function that runs a world in it. */
export function worldsOfFile(): RunWorld {
  let temporary: TemporaryFolder
  let runs = 0
  beforeEach(async () => {
    temporary = await makeTemporaryFolder()
  })
  afterEach(() => temporary.remove())
  return async (world) => {
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
}

/** Adds a test of each history. */
export function loseNothing(run: RunWorld, histories: readonly FailedHistory[]): void {
  it.each(histories)(
    'nothing is lost, nor kept for nothing, with seed $seed, $steps steps (beside another client: $isShared)',
    { timeout: 1_200_000 },
    async ({ sorts, ...history }) => {
      expect((await run({ ...history, sorts: new Set(sorts) })).quietPeriods).toBeGreaterThan(0)
    },
  )
}

/** The history with versions kept for undo where it was without, and the other way round: more goes on at the same time then. */
export function withOtherUndo(history: FailedHistory): FailedHistory {
  const others = history.sorts.filter((sort) => sort !== 'undo')
  return { ...history, sorts: others.length < history.sorts.length ? others : [...others, 'undo'] }
}

/** Adds a test of all histories of one kind, and of every third of them with the other undo. */
export function replayAll(isShared: boolean): void {
  const histories = failedHistories.filter((history) => history.isShared === isShared)
  const others = histories.filter((history, index) => index % 3 === 0 && !isLong(history))
  loseNothing(worldsOfFile(), [...histories, ...others.map(withOtherUndo)])
}
