// Sorts of worlds. A new world draws its own from its seed; a history that failed names them (failed-histories.jsonl), so that
// another sort, or another chance of one, leaves it the world in which it failed.

import { chance } from '../model/chance.ts'

/** Drawn by one world in so many. */
const oneIn = {
  /** A balancer sends a change twice. */
  repeats: 4,
  /** The service keeps no empty folders. */
  foldersVanish: 5,
  /** Programs also set times. */
  touches: 4,
  /** A disk in trouble may refuse the journal, too. */
  journalFails: 5,
  /** A disk in trouble may refuse any row of the journal, too. */
  rowsFail: 4,
  /** The folder of one program is pinned, and is read while the service is away. */
  pins: 5,
  /** The drive begins now and then while the service is away. */
  beginsAway: 5,
  /** Beside another client, programs also append. */
  appends: 3,
  /** Beside another client, both also work with folders. */
  sharedFolders: 5,
  /** Several programs work on the same names. */
  crowds: 3,
  /** They also write in place. */
  crowdWrites: 2,
  /** They work on folders, too. */
  crowdTrees: 3,
  /** Many contents have a file of their own in the spool, and the drive is killed in the midst of their writing. */
  heavy: 8,
  /** Listings do not lag, their answers overtake one another, and somebody looks all the time. */
  watches: 10,
  /** The service tells time by the second, and what is saved is often as long as what was there. */
  seconds: 8,
  /** Programs go on with documents that others wrote, and no close gives up waiting. */
  handsOn: 10,
  /** Hardly any close waits until the service has it, and what was saved leaves its name at once. */
  onItsWay: 10,
  /** Versions that programs replace or delete are kept for undo. */
  undo: 2,
  /** Those that are not on this machine are downloaded for it. */
  undoFetches: 3,
  /** Listings lag by more than a start takes, also right after one. */
  lags: 6,
  /** A change whose connection broke arrives a moment later. */
  brokenAndLate: 4,
  /** A drive begins again while requests of the last one are on their way. */
  startsSoon: 4,
} as const

export type Sort = keyof typeof oneIn

const sorts = Object.keys(oneIn) as Sort[]

/** Far from the seeds that the steps of a world are drawn from. */
const salt = 0x50_72_74

export function drawnSorts(seed: number): ReadonlySet<Sort> {
  const { below } = chance(seed + salt)
  return new Set(sorts.filter((sort) => below(oneIn[sort]) === 0))
}

/** Sorts of a list like `heavy,pins`. Throws where one is unknown. */
export function sortsIn(list: string): ReadonlySet<Sort> {
  const names = list.split(',').filter((name) => name !== '')
  const unknown = names.find((name) => !(sorts as string[]).includes(name))
  if (unknown !== undefined)
    throw new Error(`there is no sort of world '${unknown}'; those are ${sorts.join(', ')}`)
  return new Set(names as Sort[])
}
