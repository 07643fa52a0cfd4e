// Sorts of worlds that were added when seeds had failed already: each is drawn from the seed by a number of its own, chosen so
// that no seed had it that had failed by then (`simulation.test.ts`). Each of those stays the world in which it failed.

import { chance } from '../model/chance.ts'

/** In one world of so many; and the number. */
export const sorts = {
  /** A balancer sends a change twice. */
  repeats: [4, 37],
  /** The service keeps no empty folders. */
  foldersVanish: [5, 88_879],
  /** Programs also set times. */
  touches: [4, 1_399_136],
  /** A disk in trouble may refuse the journal, too. */
  journalFails: [5, 9_147_426],
  /** The folder of one program is pinned, and is read while the service is away. */
  pins: [5, 26_882_939],
  /** The drive begins now and then while the service is away. */
  beginsAway: [5, 38_179_894],
  /** Beside another client, programs also append. */
  appends: [3, 5_205_382],
  /** Beside another client, both also work with folders. */
  sharedFolders: [5, 192_576_305],
} as const

/** Younger ones, of seeds from this on: so many have failed by now that hardly any number is left which none of them draws. */
const since = 1_000_000
const younger = {
  /** Several programs work on the same names. */
  crowds: [3, 3_001],
  /** They also write in place. */
  crowdWrites: [2, 21_001],
  /** They work on folders, too. */
  crowdTrees: [3, 514_706],
  /** A disk in trouble may refuse any row of the journal, too. */
  rowsFail: [4, 11_003],
  /** Many contents have a file of their own in the spool, and the drive is killed in the midst of their writing. */
  heavy: [8, 31_009],
  /** Listings do not lag, their answers overtake one another, and somebody looks all the time. */
  watches: [10, 41_024],
  /** The service tells time by the second, and what is saved is often as long as what was there. */
  seconds: [8, 51_004],
  /** Programs go on with documents that others wrote, and no close gives up waiting. */
  handsOn: [10, 61_006],
  /** Hardly any close waits until the service has it, and what was saved leaves its name at once. */
  onItsWay: [10, 71_017],
} as const

export type Sort = keyof typeof sorts | keyof typeof younger

export function isOfSort(seed: number, sort: Sort): boolean {
  if (sort in younger && seed < since) return false
  const [worlds, salt] = { ...sorts, ...younger }[sort]
  return chance(seed + salt).below(worlds) === 0
}
