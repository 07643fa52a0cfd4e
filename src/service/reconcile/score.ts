// How well one asset fits one item: what agrees speaks for it, the more the fewer assets have the value; what differs speaks
// against it, by kind. The score is the share of what speaks for it.

import { containedSimilarity, hasNoCode } from './code-similarity.ts'
import { daysApart } from './dates.ts'
import type { LearntWeights } from './learnt-weights.ts'
import type { Query, Term } from './query.ts'
import { rarityOf } from './rarity.ts'
import { type Kind, kindOf, similarityOf } from './similarity.ts'
import type { UsualDaysByField } from './usual-days.ts'

/** Scores are whole numbers, 0 … 10,000: sums of them are exact, so that equal is equal. */
export const fullScore = 10_000
/** From here on an asset may be matched. */
export const leastScore = 6_000
/** Likeness from which a field is said to agree. */
export const agreement = 0.85

/** Weight of a value for an asset when it agrees (1: a value no other asset has), and against it when it differs. */
const weights: Readonly<Record<Kind, { readonly gain: number; readonly loss: number }>> = {
  number: { gain: 1, loss: 1 },
  day: { gain: 0.3, loss: 0.25 },
  code: { gain: 1, loss: 0.4 },
  text: { gain: 1, loss: 1.2 },
}
/** Equality of a key nearly decides. */
const keyGain = 1.6
/** Days that lie unusually far apart tell more than days that are merely not near. */
const usualDayLoss = 0.8
/** A field the asset leaves empty says nothing, but weighs this much of what it would. */
const emptyFieldShare = 0.5
/** Words where a code belongs. */
const noCodeLoss = 0.05

/** `leastScore` and more: a match; half of it at most where no field agrees. */
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
  return doesAnyAgree ? score : Math.min(Math.floor(score / 2), leastScore - 1) || 0
}

/** `leastScore` where it is as likely as not; nothing in common gives 0, and no evidence is so much that more does not show. */
function scoreOfLogOdds(odds: number, leastOdds: number): number {
  const share = odds / -leastOdds
  const least = leastScore / fullScore
  return Math.round(
    fullScore * (share >= 0 ? least + (1 - least) * (share / (share + 1)) : least * Math.max(0, 1 + share)),
  )
}

/** 0 … 1; undefined where the asset's field is empty. */
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
