// Finds assets by a number near theirs: an invoice may be paid with a discount or a bank's fee deducted.

import type { Comparable } from './comparable.ts'

/** Number of assets that are returned at most. */
const maxNear = 48
const maxRelativeDistance = 0.06

export interface NearNumbers {
  /** Assets whose number lies within 6 % of this one without being equal, nearest first. */
  near(number: number): readonly number[]
  /** Number of values that are at most `distance` away from `number`. */
  countWithin(number: number, distance: number): number
}

export function nearNumbersOf(values: readonly (Comparable | undefined)[]): NearNumbers {
  const sorted = values
    .flatMap((value, asset) => (value?.numbers ?? []).map((number) => ({ number, asset })))
    .sort((a, b) => a.number - b.number || a.asset - b.asset)
  return {
    near(number) {
      const limit = Math.abs(number) * maxRelativeDistance
      let above = lowerBound(sorted, number)
      let below = above - 1
      const near: number[] = []
      while (near.length < maxNear) {
        const up = (sorted[above]?.number ?? Number.POSITIVE_INFINITY) - number
        const down = number - (sorted[below]?.number ?? Number.NEGATIVE_INFINITY)
        if (Math.min(up, down) > limit) break
        const found = up <= down ? sorted[above++] : sorted[below--]
        if (found !== undefined && found.number !== number) near.push(found.asset)
      }
      return near
    },
    countWithin: (number, distance) =>
      // A tiny addition makes the upper bound inclusive.
      lowerBound(sorted, number + distance + Number.EPSILON * Math.abs(number)) -
      lowerBound(sorted, number - distance),
  }
}

function lowerBound(sorted: readonly { readonly number: number }[], number: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle]?.number ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}
