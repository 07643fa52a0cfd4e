// Weights of the fields in one run, learnt from its items and assets without any known match: Fellegi and Sunter's model of
// record linkage, its parameters estimated by expectation maximisation.
//
// For an item and an asset, each compared field reaches a level, from differing to equal. A level changes the odds of a match by
// the share of matching pairs that reach it (learnt, by column), divided by the share of all pairs that do. So a rare value
// counts more than a common one, and a field that two lists spell differently counts little. All logarithms are natural.

import type { AssetIndex } from './asset-index.ts'
import { candidatesOf, keyMatchesOf } from './candidates.ts'
import { hasNoCode } from './code-similarity.ts'
import type { Comparable } from './comparable.ts'
import { daysApart } from './dates.ts'
import { explainedSimilarity } from './number-similarity.ts'
import type { Query, Term } from './query.ts'
import { countAlike } from './rarity.ts'
import { type Kind, kindOf, similarityOf } from './similarity.ts'
import { sharedWords } from './text-similarity.ts'

export interface LearntWeights {
  /** Logarithm of the odds that item and asset match. */
  logOddsOf(query: Query, asset: number): number
  /** Logarithm of the odds that an item matches an asset, before their fields are compared; below 0. */
  readonly priorLogOdds: number
}

/** Fewest items, and fewest assets, from which weights are learnt. */
const leastRows = 20
const rounds = 10
/** The assumed shares (`assumed`) weigh as much as so many observed pairs. */
const assumedPairs = 5
/** Share of the items that are assumed to have a matching asset, before the first round. */
const assumedShare = 0.7
/** Lower bound of a learnt share, so that its logarithm stays finite. */
const leastShare = 0.0005
/** If a smaller share of the items has a match, the learnt weights are not used: the values do not distinguish the assets. */
const leastMatchedShare = 0.1
/** Pairs with a smaller probability to match are skipped while learning. */
const leastProbability = 1e-4

/** Assumed share of matching pairs that reach each level, from the lowest (differing) to the highest. */
const assumed: Readonly<Record<Kind, readonly number[]>> = {
  number: [0.02, 0.02, 0.04, 0.12, 0.8],
  code: [0.1, 0.05, 0.05, 0.1, 0.7],
  text: [0.05, 0.05, 0.1, 0.2, 0.6],
  day: [1, 1, 2, 3, 8, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 4, 3, 2, 1].map((parts) => parts / 100),
}
/** Lower bounds, as a similarity, of the levels above the lowest. */
const similarityBounds = [1e-9, 0.6, 0.85, 0.98]
/** The same for days: the number of days from the asset's day to the item's. */
const dayBounds = [-60, -14, -3, 0, 1, 4, 7, 10, 14, 18, 22, 26, 30, 35, 40, 46, 53, 61, 75, 95, 130]
/** A value that one asset has counts up to this times log(number of assets): several rare words are more than one value. */
const maxInformationShare = 1.6
/** Information of a digit of a sum: a little less than log(10), for first digits are not evenly distributed. */
const digitInformation = 1.9
/** Factor for a word that already counted in another field. */
const repeatedShare = 0.25
/** Pairs of any item and any asset that are sampled for the distribution of the days between them. */
const sampledPairs = 3_000

/** Returns undefined for fewer than `leastRows` items or assets, and where hardly any item has a match. */
export function learnWeights(queries: readonly Query[], index: AssetIndex): LearntWeights | undefined {
  const comparable = queries.filter(({ terms }) => terms.length > 0)
  if (comparable.length < leastRows || index.assets.length < leastRows) return undefined
  const learning = new Learning(comparable, index)
  return learning.matchedShare < leastMatchedShare ? undefined : learning
}

/** A field of the input, compared with a field of the table, over all pairs of an item and an asset. */
interface Column {
  /** Learnt share of matching pairs that reach each level. */
  shares: readonly number[]
  readonly assumed: readonly number[]
  /** By level: −log(share of all pairs that reach it); undefined where that depends on the value. */
  readonly surprises: readonly number[] | undefined
  /** By level, in the current round: sum of the match probabilities of the pairs that reach it. */
  sums: number[]
}

/** The level that one column reaches in one pair. */
interface FieldLevel {
  readonly column: Column
  readonly level: number
  /** −log(share of all pairs that reach this level with such a value). */
  readonly surprise: number
}

/** A text of an item and a similar one of an asset. */
interface TextPair {
  readonly term: Term
  readonly assetValue: Comparable
  readonly column: Column
  readonly level: number
  /** Number of candidates that reach this level, too. */
  readonly near: number
}

class Learning implements LearntWeights {
  readonly #index: AssetIndex
  readonly #columns = new Map<string, Column>()
  readonly #pairs = new Map<Query, Map<number, readonly FieldLevel[]>>()
  readonly #similarities = new Map<Comparable, Map<Comparable, number>>()
  /** By query, term and level above the lowest: number of candidates that reach it. */
  readonly #near = new Map<Query, readonly (readonly number[])[]>()
  readonly #queries: readonly Query[]
  #matchedShare = assumedShare

  constructor(queries: readonly Query[], index: AssetIndex) {
    this.#index = index
    this.#queries = queries
    const candidates = queries.map((query) => this.#candidatesOf(query))
    for (let round = 0; round < rounds; round++) this.#learn(candidates)
  }

  /** Learnt share of the items that match an asset. */
  get matchedShare(): number {
    return this.#matchedShare
  }

  get priorLogOdds(): number {
    return Math.log(this.#matchedShare / (1 - this.#matchedShare) / this.#index.assets.length)
  }

  logOddsOf(query: Query, asset: number): number {
    let pairs = this.#pairs.get(query)
    if (pairs === undefined) this.#pairs.set(query, (pairs = new Map()))
    let levels = pairs.get(asset)
    if (levels === undefined) pairs.set(asset, (levels = this.#compare(query, asset)))
    return this.#logOddsOf(levels)
  }

  #logOddsOf(levels: readonly FieldLevel[]): number {
    let odds = this.priorLogOdds
    for (const { column, level, surprise } of levels)
      odds += Math.log(column.shares[level] ?? leastShare) + surprise
    return odds
  }

  // One round: the probability of each pair to match, by the current shares, then new shares from these probabilities.
  #learn(candidates: readonly (readonly (readonly FieldLevel[])[])[]): void {
    for (const column of this.#columns.values()) column.sums = column.sums.map(() => 0)
    let found = 0
    for (const pairs of candidates) {
      const odds = pairs.map((levels) => this.#logOddsOf(levels))
      // Scaled by the largest, so that no exponential overflows; 0 is the logarithm for no match.
      const most = Math.max(0, ...odds)
      const parts = odds.map((each) => Math.exp(each - most))
      const all = parts.reduce((sum, part) => sum + part, Math.exp(-most))
      for (const [at, levels] of pairs.entries()) {
        const probability = (parts[at] ?? 0) / all
        if (probability < leastProbability) continue
        found += probability
        for (const { column, level } of levels) column.sums[level] = (column.sums[level] ?? 0) + probability
      }
    }
    for (const column of this.#columns.values()) column.shares = sharesOf(column)
    this.#matchedShare = Math.min(0.98, Math.max(0.05, found / this.#queries.length))
  }

  #candidatesOf(query: Query): (readonly FieldLevel[])[] {
    const assets = [...new Set([...keyMatchesOf(query), ...candidatesOf(query, this.#index.assets.length)])]
    const near = query.terms.map(({ field, value }) => {
      const counts = similarityBounds.map(() => 0)
      for (const asset of assets) {
        const assetValue = field.values[asset]
        if (assetValue === undefined) continue
        let level = levelOf(similarityBounds, this.#similarityOf(field, value, assetValue))
        for (; level > 0; level--) counts[level - 1]!++
      }
      return counts
    })
    // Before `logOddsOf`, which needs the counts.
    this.#near.set(query, near)
    return assets.map((asset) => {
      this.logOddsOf(query, asset)
      return this.#pairs.get(query)?.get(asset) ?? []
    })
  }

  #compare(query: Query, asset: number): FieldLevel[] {
    const levels: FieldLevel[] = []
    const texts: TextPair[] = []
    for (const [at, term] of query.terms.entries()) {
      const { field, value } = term
      const assetValue = field.values[asset]
      if (assetValue === undefined) continue
      const kind = kindOf(value, assetValue, field.isCode)
      const column = this.#columnOf(term, kind)
      if (kind === 'day') {
        const level = levelOf(dayBounds, daysApart(value.days, assetValue.days))
        levels.push({ column, level, surprise: column.surprises?.[level] ?? 0 })
        continue
      }
      const similarity = this.#similarityOf(field, value, assetValue)
      if (kind === 'code' && similarity === 0 && hasNoCode(value)) continue
      const level =
        kind === 'number' ? numberLevel(value, assetValue, similarity) : levelOf(similarityBounds, similarity)
      const near = this.#near.get(query)?.[at] ?? []
      if (kind === 'text' && level > 0)
        texts.push({ term, assetValue, column, level, near: near[level - 1] ?? 0 })
      else {
        const surprise = this.#surpriseOf(term, assetValue, { level, similarity, near })
        levels.push({ column, level, surprise })
      }
    }
    return [...levels, ...this.#surprisesOfTexts(texts)]
  }

  // A word counts fully in one field only: an airport's name often repeats its city.
  #surprisesOfTexts(texts: readonly TextPair[]): FieldLevel[] {
    const total = this.#index.assets.length
    const measured = texts.map(({ term: { field, value }, assetValue, column, level, near }) => {
      const words = [...sharedWords(value, assetValue)].map(([word, similarity]): [string, number] => {
        const count = field.postings.get(`t:${word}`)?.length ?? 1
        return [word, similarity * Math.log(total / count)]
      })
      // Similar texts without a shared word: spaces are missing, for instance.
      if (words.length === 0) words.push([assetValue.compact, Math.log(total / Math.max(1, near))])
      const all = words.reduce((sum, [, information]) => sum + information, 0)
      const count = field.postings.get(`t:${assetValue.compact}`)?.length ?? 1
      const most = count > 1 ? Math.log(total / count) : maxInformationShare * Math.log(total)
      return { column, level, words, all, most }
    })
    const known = new Set<string>()
    return measured
      .toSorted((a, b) => b.all - a.all)
      .map(({ column, level, words, all, most }) => {
        let newInformation = 0
        for (const [word, information] of words) {
          newInformation += known.has(word) ? information * repeatedShare : information
          known.add(word)
        }
        const share = all === 0 ? 0 : newInformation / all
        return { column, level, surprise: share * Math.min(all, most) }
      })
  }

  #surpriseOf(
    { field, value }: Term,
    assetValue: Comparable,
    { level, similarity, near }: { level: number; similarity: number; near: readonly number[] },
  ): number {
    const total = this.#index.assets.length
    if (level > 0) {
      const alike = countAlike(field, value, assetValue, similarity)
      const [number] = assetValue.numbers
      // An exact sum that only one asset has counts by its digits, so that a round one counts less.
      if (alike === 1 && similarity >= 1 && number !== undefined && !field.isCode)
        return Math.min(maxInformationShare * Math.log(total), digitInformation * digitsOf(number))
      return Math.log(
        total / Math.min(total, Math.max(1, alike, similarity >= 1 ? 0 : (near[level - 1] ?? 0))),
      )
    }
    const alike = Math.max(near[0] ?? 0, countAlike(field, value, value, 1))
    return -Math.log(Math.max(0.05, 1 - alike / total))
  }

  /** Cached, for many items have the same values. */
  #similarityOf(field: Term['field'], value: Comparable, assetValue: Comparable): number {
    let known = this.#similarities.get(value)
    if (known === undefined) this.#similarities.set(value, (known = new Map()))
    let similarity = known.get(assetValue)
    if (similarity === undefined) known.set(assetValue, (similarity = similarityOf(value, assetValue, field)))
    return similarity
  }

  #columnOf({ cell, field }: Term, kind: Kind): Column {
    const name = `${kind} ${cell.key}\0${field.name}`
    let column = this.#columns.get(name)
    if (column === undefined) {
      const surprises = kind === 'day' ? this.#surprisesOfDays(cell.key, field) : undefined
      column = { shares: assumed[kind], surprises, sums: assumed[kind].map(() => 0), assumed: assumed[kind] }
      this.#columns.set(name, column)
    }
    return column
  }

  #surprisesOfDays(key: string, field: Term['field']): number[] {
    const terms = this.#queries.flatMap(({ terms }) =>
      terms.filter((term) => term.cell.key === key && term.field === field),
    )
    const counts = [...dayBounds, 0].map(() => 1)
    for (let at = 0; at < sampledPairs; at++) {
      // Large primes spread the samples over assets and items.
      const assetValue = field.values[(at * 7919) % field.values.length]
      const { value } = terms[(at * 104_729) % terms.length] ?? {}
      const [days = [], assetDays = []] = [value?.days, assetValue?.days]
      if (days.length === 0 || assetDays.length === 0) continue
      counts[levelOf(dayBounds, daysApart(days, assetDays))]!++
    }
    const all = counts.reduce((sum, count) => sum + count, 0)
    return counts.map((count) => Math.log(all / count))
  }
}

function sharesOf({ sums, assumed: before }: Column): number[] {
  const all = sums.reduce((sum, each) => sum + each, assumedPairs)
  // The shares of days are smoothed over neighbouring levels.
  const counts = before === assumed.day ? sums.map((_, level) => smoothed(sums, level)) : sums
  return counts.map((sum, level) => Math.max(leastShare, (sum + assumedPairs * (before[level] ?? 0)) / all))
}

function smoothed(sums: readonly number[], level: number): number {
  const sum = sums[level] ?? 0
  return ((sums[level - 1] ?? sum) + 2 * sum + (sums[level + 1] ?? sum)) / 4
}

/** 4: equal; 3 and 2: the difference has a likely or less likely explanation; 1: near; 0: different. */
function numberLevel(value: Comparable, assetValue: Comparable, similarity: number): number {
  if (similarity >= 1) return 4
  if (similarity === 0) return 0
  const explained = Math.max(
    ...value.numbers.flatMap((one) => assetValue.numbers.map((other) => explainedSimilarity(one, other))),
  )
  if (explained >= 0.9) return 3
  return explained > 0 ? 2 : 1
}

/** Number of digits of the cents, without zeros at the end. */
function digitsOf(number: number): number {
  return String(Math.round(Math.abs(number) * 100)).replace(/0+$/, '').length
}

function levelOf(bounds: readonly number[], value: number): number {
  let level = 0
  while (level < bounds.length && value >= (bounds[level] ?? Infinity)) level++
  return level
}
