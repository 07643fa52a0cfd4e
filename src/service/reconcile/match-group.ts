// Matches the items of one group to assets, each at most once: first by keys, then by score (`likeness` in outcomes).

import type { AssetIndex } from './asset-index.ts'
import { type Edge, assign } from './assignment.ts'
import { candidatesOf, keyMatchesOf } from './candidates.ts'
import { type LearntWeights, learnWeights } from './learnt-weights.ts'
import type { Query } from './query.ts'
import { leastScore, scoreOf } from './score.ts'
import { type UsualDaysByField, learnUsualDays } from './usual-days.ts'

/** The result for one item. */
export type Outcome =
  /** Matched: by a key of the table, or by score. */
  | {
      readonly kind: 'key' | 'likeness'
      readonly asset: number
      readonly score: number
      /** Other free assets with the same score. */
      readonly equals: readonly number[]
    }
  /** The best asset was matched to the item `by`; `next` are the next best, best first. */
  | {
      readonly kind: 'taken'
      readonly asset: number
      readonly score: number
      readonly by: number
      readonly next: readonly Scored[]
    }
  /** The best asset has not the score that a match needs. */
  | {
      readonly kind: 'too far'
      readonly asset: number
      readonly score: number
      readonly next: readonly Scored[]
    }
  | { readonly kind: 'nothing alike' }
  | { readonly kind: 'no value' }

export interface Scored {
  readonly asset: number
  readonly score: number
}

/** An item whose keys point to one asset with this score gets it; no other assets are compared. */
const clearScore = 8_500
/** Score without its days from which a pair, whose next best is no match, is used to learn the usual distance of days. */
const sureScore = 8_000

/** For an item without a match, so many of the best assets are reported. */
const nearestListed = 3

/** One outcome per query, in order; a match has at least the score `least`. */
export function matchGroup(
  queries: readonly Query[],
  index: AssetIndex,
  least: number = leastScore,
): Outcome[] {
  const byKey = assignKeys(queries, Math.max(least, clearScore))
  const takenBy = new Map([...byKey].map(([item, asset]) => [asset, item]))
  const learnt = learnWeights(queries, index)
  const usual = learnUsualDays([...surePairs(queries, byKey, takenBy, index)])
  const byLikeness = assignLikest(queries, byKey, takenBy, { index, usual, learnt, least })
  return queries.map((query, item): Outcome => {
    const key = byKey.get(item)
    if (key !== undefined)
      return { kind: 'key', asset: key, score: scoreOf(query, key, usual, learnt), equals: [] }
    const likest = byLikeness.get(item)
    if (likest === undefined) return unmatched(query, takenBy, { index, usual, learnt, least })
    const { asset, score } = likest.chosen
    if (keyMatchesOf(query).includes(asset)) return { kind: 'key', asset, score, equals: [] }
    const equals = likest.ranked.filter((other) => other.score === score && !takenBy.has(other.asset))
    return { kind: 'likeness', asset, score, equals: equals.map((other) => other.asset) }
  })
}

interface Known {
  readonly index: AssetIndex
  readonly usual: UsualDaysByField
  readonly learnt: LearntWeights | undefined
  readonly least: number
}

interface Likest {
  readonly chosen: Scored
  /** The assets it was chosen from, best first. */
  readonly ranked: readonly Scored[]
}

/** Matches the items that `byKey` has not matched, and adds the assets to `takenBy`. */
function assignLikest(
  queries: readonly Query[],
  byKey: ReadonlyMap<number, number>,
  takenBy: Map<number, number>,
  { index, usual, learnt, least }: Known,
): Map<number, Likest> {
  const likest = new Map<number, Likest>()
  const rankFree = (query: Query): Scored[] =>
    rank(query, promising(query, index, takenBy), usual, learnt).filter(({ score }) => score >= least)

  const ranked = queries.map((query, item) => (byKey.has(item) ? [] : rankFree(query)))
  const edges = ranked.flatMap((scored, item) =>
    scored.map((one): Edge => ({ item, asset: one.asset, score: one.score })),
  )
  for (const [item, asset] of assign(edges)) {
    const chosen = ranked[item]?.find((one) => one.asset === asset)
    if (chosen === undefined) continue
    likest.set(item, { chosen, ranked: ranked[item] ?? [] })
    takenBy.set(asset, item)
  }
  // More items may be similar than each has candidates (fifty invoices of one vendor, for instance). Items whose candidates
  // went to others get new candidates among the free assets, one item after the other.
  for (const [item, query] of queries.entries()) {
    if (likest.has(item) || (ranked[item] ?? []).length === 0) continue
    const further = rankFree(query)
    const [chosen] = further
    if (chosen === undefined) continue
    likest.set(item, { chosen, ranked: further })
    takenBy.set(chosen.asset, item)
  }
  return likest
}

function unmatched(
  query: Query,
  takenBy: ReadonlyMap<number, number>,
  { index, usual, learnt, least }: Known,
): Outcome {
  if (query.terms.length === 0) return { kind: 'no value' }
  const keyMatches = keyMatchesOf(query)
  const [best, ...others] = rank(query, promising(query, index), usual, learnt)
  if (best === undefined) return { kind: 'nothing alike' }
  const next = others.slice(0, nearestListed - 1).filter(({ score }) => score > 0)
  const by = takenBy.get(best.asset)
  if (by !== undefined && (best.score >= least || keyMatches.includes(best.asset))) {
    return { kind: 'taken', ...best, by, next }
  }
  return { kind: 'too far', ...best, next }
}

// Matches items whose keys point to one asset with the score `clear`. Of several items the best gets the asset, then the first.
function assignKeys(queries: readonly Query[], clear: number): Map<number, number> {
  const wishes: Edge[] = []
  for (const [item, query] of queries.entries()) {
    const [asset, ...others] = keyMatchesOf(query)
    if (asset === undefined || others.length > 0) continue
    const score = scoreOf(query, asset)
    if (score >= clear) wishes.push({ item, asset, score })
  }
  wishes.sort((a, b) => b.score - a.score || a.item - b.item)
  const assigned = new Map<number, number>()
  const taken = new Set<number>()
  for (const { item, asset } of wishes) {
    if (taken.has(asset)) continue
    taken.add(asset)
    assigned.set(item, asset)
  }
  return assigned
}

// Pairs that are certain without their days: matched by key, or only one asset fits the other values.
function* surePairs(
  queries: readonly Query[],
  byKey: ReadonlyMap<number, number>,
  takenBy: ReadonlyMap<number, number>,
  index: AssetIndex,
): Generator<{ query: Query; asset: number }> {
  if (queries.length < leastGroup) return
  for (const [item, query] of queries.entries()) {
    const key = byKey.get(item)
    if (key !== undefined) yield { query, asset: key }
    else {
      const terms = query.terms.filter(({ value }) => value.days.length === 0)
      if (terms.length < 2 || terms.length === query.terms.length) continue
      const [best, next] = rank({ ...query, terms }, promising({ ...query, terms }, index, takenBy))
      if (best !== undefined && best.score >= sureScore && (next === undefined || next.score < leastScore))
        yield { query, asset: best.asset }
    }
  }
}

/** Usual days are not learnt from fewer items. */
const leastGroup = 10

function promising(query: Query, index: AssetIndex, except?: ReadonlyMap<number, unknown>): number[] {
  const keyMatches = keyMatchesOf(query).filter((asset) => except?.has(asset) !== true)
  return [...new Set([...keyMatches, ...candidatesOf(query, index.assets.length, except)])]
}

function rank(
  query: Query,
  assets: readonly number[],
  usual?: UsualDaysByField,
  learnt?: LearntWeights,
): Scored[] {
  return assets
    .map((asset) => ({ asset, score: scoreOf(query, asset, usual, learnt) }))
    .sort((a, b) => b.score - a.score || a.asset - b.asset)
}
