// Matches the items of one group: exact keys first, then likeness, each asset at most once.

import type { AssetIndex } from './asset-index.ts'
import { type Edge, assign } from './assignment.ts'
import { candidatesOf, keyMatchesOf } from './candidates.ts'
import type { Query } from './query.ts'
import { leastScore, scoreOf, termSimilarity } from './score.ts'

/** What became of one item. */
export type Outcome =
  | {
      readonly kind: 'key' | 'likeness'
      readonly asset: number
      readonly score: number
      readonly equals: readonly number[]
    }
  /** The asset that fits went to another item. */
  | { readonly kind: 'taken'; readonly asset: number; readonly score: number; readonly by: number }
  /** The nearest asset is not near enough. */
  | { readonly kind: 'too far'; readonly asset: number; readonly score: number }
  | { readonly kind: 'nothing alike' }
  | { readonly kind: 'no value' }

interface Scored {
  readonly asset: number
  readonly score: number
}

/** One outcome per query, in order. */
export function matchGroup(queries: readonly Query[], index: AssetIndex): Outcome[] {
  const byKey = assignKeys(queries)
  const takenBy = new Map([...byKey].map(([item, asset]) => [asset, item]))
  const byLikeness = assignLikest(queries, byKey, takenBy, index)
  return queries.map((query, item): Outcome => {
    const key = byKey.get(item)
    if (key !== undefined) return { kind: 'key', asset: key, score: scoreOf(query, key), equals: [] }
    const likest = byLikeness.get(item)
    if (likest === undefined) return unmatched(query, takenBy, index)
    const { asset, score } = likest.chosen
    const equals = likest.ranked.filter((other) => other.score === score && !takenBy.has(other.asset))
    return { kind: 'likeness', asset, score, equals: equals.map((other) => other.asset) }
  })
}

interface Likest {
  readonly chosen: Scored
  /** What it was chosen from, best first. */
  readonly ranked: readonly Scored[]
}

/** Matches what has no key, and notes it in `takenBy`. */
function assignLikest(
  queries: readonly Query[],
  byKey: ReadonlyMap<number, number>,
  takenBy: Map<number, number>,
  index: AssetIndex,
): Map<number, Likest> {
  const likest = new Map<number, Likest>()
  const rankFree = (query: Query): Scored[] =>
    rank(query, candidatesOf(query, index.assets.length, takenBy)).filter(({ score }) => score >= leastScore)

  const ranked = queries.map((query, item) => (byKey.has(item) ? [] : rankFree(query)))
  const edges = ranked.flatMap((scored, item) => scored.map((one): Edge => ({ item, ...one })))
  for (const [item, asset] of assign(edges)) {
    const chosen = ranked[item]?.find((one) => one.asset === asset)
    if (chosen === undefined) continue
    likest.set(item, { chosen, ranked: ranked[item] ?? [] })
    takenBy.set(asset, item)
  }
  // More items may be alike than one has candidates, fifty invoices of one vendor for instance: those that came away
  // empty-handed look further, one after the other.
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

function unmatched(query: Query, takenBy: ReadonlyMap<number, number>, index: AssetIndex): Outcome {
  if (query.terms.length === 0) return { kind: 'no value' }
  const keyMatches = keyMatchesOf(query)
  const [best] = rank(query, [...new Set([...keyMatches, ...candidatesOf(query, index.assets.length)])])
  if (best === undefined) return { kind: 'nothing alike' }
  const by = takenBy.get(best.asset)
  if (by !== undefined && (best.score >= leastScore || keyMatches.includes(best.asset))) {
    return { kind: 'taken', ...best, by }
  }
  return { kind: 'too far', ...best }
}

// Items whose keys point to one asset get it; of several items the better fit, then the first.
function assignKeys(queries: readonly Query[]): Map<number, number> {
  const wishes: Edge[] = []
  for (const [item, query] of queries.entries()) {
    const [asset, ...others] = keyMatchesOf(query)
    if (asset === undefined || others.length > 0 || isContradicted(query, asset)) continue
    wishes.push({ item, asset, score: scoreOf(query, asset) })
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

// A key is overruled when at least two other fields were compared and none is even alike.
function isContradicted(query: Query, asset: number): boolean {
  const others = query.terms
    .filter(({ field }) => !field.isKey)
    .map((term) => termSimilarity(term, asset))
    .filter((similarity) => similarity !== undefined)
  return others.length >= 2 && others.every((similarity) => similarity === 0)
}

function rank(query: Query, assets: readonly number[]): Scored[] {
  return assets
    .map((asset) => ({ asset, score: scoreOf(query, asset) }))
    .sort((a, b) => b.score - a.score || a.asset - b.asset)
}
