// How well one asset fits one item: the weighted mean of the likeness of its fields.

import { similarityOf } from './similarity.ts'
import type { Query, Term } from './query.ts'

/** Scores are whole numbers, 0 … 10,000: sums of them are exact, so that equal is equal. */
export const fullScore = 10_000
/** From here on an asset may be matched. */
export const leastScore = 6_000
/** Likeness from which a field is said to agree. */
export const agreement = 0.85

/** A field the asset leaves empty says nothing, but weighs this much of what it would. */
const emptyFieldShare = 0.5

/** `leastScore` and more: a match; 0 where no field agrees. */
export function scoreOf(query: Query, asset: number): number {
  let sum = 0
  let total = 0
  let doesAnyAgree = false
  for (const term of query.terms) {
    const similarity = termSimilarity(term, asset)
    const weight = term.field.weight
    total += similarity === undefined ? weight * emptyFieldShare : weight
    sum += (similarity ?? 0) * weight
    doesAnyAgree ||= (similarity ?? 0) >= agreement
  }
  return doesAnyAgree ? Math.round((sum / total) * fullScore) : 0
}

/** 0 … 1; undefined where the asset's field is empty. */
export function termSimilarity(term: Term, asset: number): number | undefined {
  const value = term.field.values[asset]
  return value === undefined ? undefined : similarityOf(term.value, value, term.field.isCode)
}
