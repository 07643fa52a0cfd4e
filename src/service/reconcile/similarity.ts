// Similarity of two values, 0 … 1. Numbers are compared as numbers, days as days, codes strictly, words loosely.

import { codeSimilarity } from './code-similarity.ts'
import type { Comparable } from './comparable.ts'
import { daysApart } from './dates.ts'
import { similarityOfNumbers } from './number-similarity.ts'
import { type WordWeight, textSimilarity } from './text-similarity.ts'

/** The kind of a comparison. */
export type Kind = 'number' | 'day' | 'code' | 'text'

/** Properties of a field that its comparisons need. */
export interface FieldHabits {
  readonly isCode: boolean
  readonly wordWeight: WordWeight
}

/** Similarity of days near each other; halved at a distance of `halfwayDays`, and 0 below `leastDaySimilarity`. */
const nearDaySimilarity = 0.8
const halfwayDays = 30
const leastDaySimilarity = 0.15

export function kindOf(a: Comparable, b: Comparable, isCode: boolean): Kind {
  if (a.numbers.length > 0 && b.numbers.length > 0) return isCode ? 'code' : 'number'
  if (a.days.length > 0 && b.days.length > 0) return 'day'
  return isCode ? 'code' : 'text'
}

/** Returns 1 for equal values in any spelling … 0 for different ones. `a` is the input's value, `b` the asset's. */
export function similarityOf(a: Comparable, b: Comparable, { isCode, wordWeight }: FieldHabits): number {
  if (a.numbers.length > 0 && b.numbers.length > 0) return numberSimilarity(a, b, isCode)
  if (a.days.length > 0 && b.days.length > 0) return daySimilarity(a, b)
  if (a.compact === b.compact) return 1
  return isCode ? codeSimilarity(a, b) : textSimilarity(a, b, wordWeight)
}

function numberSimilarity(a: Comparable, b: Comparable, isCode: boolean): number {
  if (a.unit !== undefined && b.unit !== undefined && a.unit !== b.unit) return 0
  let best = 0
  for (const x of a.numbers) {
    for (const y of b.numbers) best = Math.max(best, similarityOfNumbers(x, y))
  }
  return isCode && best < 1 ? 0 : best
}

function daySimilarity(a: Comparable, b: Comparable): number {
  const apart = Math.abs(daysApart(a.days, b.days))
  if (apart === 0) return 1
  const similarity = nearDaySimilarity / (1 + apart / halfwayDays)
  return similarity < leastDaySimilarity ? 0 : similarity
}
