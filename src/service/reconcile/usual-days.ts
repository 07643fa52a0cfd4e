// The usual distance of days in one run: payments come two weeks after their invoices, deliveries three days after their
// orders. It is learnt from pairs that are certain without their days.

import type { AssetField } from './asset-field.ts'
import { daysApart } from './dates.ts'
import type { Query } from './query.ts'

/** For a distance in days, from the asset's day to the item's: how usual it is, 0 … 1 (the most usual). */
export type Usualness = (daysApart: number) => number

export type UsualDaysByField = ReadonlyMap<AssetField, Usualness>

/** Fewest pairs from which a usual distance is learnt. */
const leastPairs = 10
const leastWindowDays = 3
/** A distance that is 2⁻⁶ as frequent as the most frequent one, or less, has usualness 0. */
const nothingBits = 6

export function learnUsualDays(pairs: readonly { query: Query; asset: number }[]): UsualDaysByField {
  const distances = new Map<AssetField, number[]>()
  for (const { query, asset } of pairs) {
    for (const { field, value } of query.terms) {
      const days = field.values[asset]?.days ?? []
      if (days.length === 0 || value.days.length === 0) continue
      const known = distances.get(field)
      if (known === undefined) distances.set(field, [daysApart(value.days, days)])
      else known.push(daysApart(value.days, days))
    }
  }
  const usual = new Map<AssetField, Usualness>()
  for (const [field, known] of distances) if (known.length >= leastPairs) usual.set(field, usualnessOf(known))
  return usual
}

// The number of pairs with about this distance, relative to the most frequent distance, on a logarithmic scale.
function usualnessOf(distances: readonly number[]): Usualness {
  const sorted = distances.toSorted((a, b) => a - b)
  const quarter = (part: number): number => sorted[Math.round(((sorted.length - 1) * part) / 4)] ?? 0
  const window = Math.max(leastWindowDays, (quarter(3) - quarter(1)) / 4)
  const near = (apart: number): number => {
    let sum = 0
    for (const distance of sorted) sum += Math.max(0, 1 - Math.abs(distance - apart) / (2 * window))
    return sum
  }
  const most = Math.max(...sorted.map(near))
  const known = new Map<number, number>()
  return (apart) => {
    let share = known.get(apart)
    if (share === undefined)
      known.set(apart, (share = Math.max(0, 1 + Math.log2(near(apart) / most) / nothingBits)))
    return share
  }
}
