// Each seed does some things often and others never: what needs three kinds of trouble in a row, or the same save over and
// over, comes up in a world that is made for it, and hardly ever in one that has a little of everything (swarm testing, Groce
// et al. 2012).

import type { Chance } from '../model/chance.ts'

/** One world in so many has a little of everything. */
const evenWorlds = 4

/** Half of them, each up to four times as often or as rarely; `always` is never left out. */
export function someOf<K extends string>(
  weights: Readonly<Record<K, number>>,
  chance: Chance,
  always: readonly NoInfer<K>[] = [],
): Record<K, number> {
  const isEven = chance.below(evenWorlds) === 0
  const some: Record<K, number> = { ...weights }
  for (const key of Object.keys(weights) as K[]) {
    const isIn = chance.random() < 0.5 || always.includes(key)
    const factor = chance.pick([0.25, 1, 4])
    if (!isEven) some[key] = isIn ? weights[key] * factor : 0
  }
  return some
}
