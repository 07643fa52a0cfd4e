// The score of an asset for an item. A field that agrees is evidence for the asset, the more so the rarer its value; a field
// that differs is evidence against it, by kind. The score is the share of the evidence for it.

import { containedSimilarity, hasNoCode } from './code-similarity.ts'
import { daysApart } from './dates.ts'
import type { LearntWeights } from './learnt-weights.ts'
import type { Query, Term } from './query.ts'
import { rarityOf } from './rarity.ts'
import { type Kind, kindOf, similarityOf } from './similarity.ts'
import type { UsualDaysByField } from './usual-days.ts'

/** Scores are whole numbers, 0 … 10,000: their sums are exact, so that equal scores compare as equal. */
export const fullScore = 10_000
/** The score that a match needs, unless the input sets another. */
export const leastScore = 6_000
/** Similarity from which a field agrees. */
export const agreement = 0.85

/** Weights of a field that agrees (`gain`, for a value that no other asset has) and of one that differs (`loss`). */
const weights: Readonly<Record<Kind, { readonly gain: number; readonly loss: number }>> = {
  number: { gain: 1, loss: 1 },
  day: { gain: 0.3, loss: 0.25 },
  code: { gain: 1, loss: 0.4 },
  text: { gain: 1, loss: 1.2 },
}
/** Gain of an equal key, which nearly decides. */
const keyGain = 1.6
/** Loss of an unusual distance of days, where the usual one was learnt: stronger evidence than days that are not near. */
const usualDayLoss = 0.8
/** Loss of a field that is empty in the asset, as a share of the field's weight. */
const emptyFieldShare = 0.5
/** Loss of a text without a code, in a field of codes. */
const noCodeLoss = 0.05

/** Returns 0 … `fullScore`. Without a field that agrees, it is halved and stays below `leastScore`. */
export function scoreOf(
  query: Query,
  asset: number,
  usual?: UsualDaysByField,
  learnt?: LearntWeights,
): number {
  if (learnt !== undefined) return scoreOfLogOdds(learnt.logOddsOf(query, asset), learnt.priorLogOdds)
  let gained = 0
  let lost = 0
  let doesAnyAgree = false
  for (const term of query.terms) {
    const { gain, loss, similarity } = evidenceOf(term, asset, usual)
    gained += gain * term.share
    lost += loss * term.share
    doesAnyAgree ||= similarity >= agreement
  }
  const score = Math.round((gained / (gained + lost)) * fullScore)
  // The score is NaN (0/0) where there is no evidence at all.
  return doesAnyAgree ? score : Math.min(Math.floor(score / 2), leastScore - 1) || 0
}

/** Maps odds to a score: even odds give `leastScore`, odds as before any comparison 0, growing odds approach `fullScore`. */
function scoreOfLogOdds(logOdds: number, priorLogOdds: number): number {
  const share = logOdds / -priorLogOdds
  const least = leastScore / fullScore
  return Math.round(
    fullScore * (share >= 0 ? least + (1 - least) * (share / (share + 1)) : least * Math.max(0, 1 + share)),
  )
}

/** Returns 0 … 1; undefined where the field is empty in the asset. */
export function termSimilarity({ field, value }: Term, asset: number): number | undefined {
  const assetValue = field.values[asset]
  return assetValue === undefined ? undefined : similarityOf(value, assetValue, field)
}

interface Evidence {
  readonly gain: number
  readonly loss: number
  readonly similarity: number
}

function evidenceOf(term: Term, asset: number, usual: UsualDaysByField | undefined): Evidence {
  const { field, value } = term
  const assetValue = field.values[asset]
  if (assetValue === undefined) return { gain: 0, loss: field.weight * emptyFieldShare, similarity: 0 }
  const similarity = similarityOf(value, assetValue, field)
  const kind = kindOf(value, assetValue, field.isCode)
  if (field.isKey && similarity >= containedSimilarity) return { gain: keyGain, loss: 0, similarity }
  const usualness = kind === 'day' ? usual?.get(field) : undefined
  if (usualness !== undefined) {
    const share = usualness(daysApart(value.days, assetValue.days))
    return { gain: share * weights.day.gain, loss: (1 - share) * usualDayLoss, similarity }
  }
  const { gain, loss } = weights[kind]
  if (kind === 'code' && similarity === 0 && hasNoCode(value))
    return { gain: 0, loss: noCodeLoss, similarity }
  return {
    gain: similarity * gain * rarityOf(field, value, assetValue, similarity),
    loss: (1 - similarity) * loss * field.weight,
    similarity,
  }
}
