// How much each field tells in this run, learnt from the rows themselves, without knowing a single answer: Fellegi and Sunter's
// model of record linkage, its parameters found by expectation maximisation.
//
// A field of a pair agrees to a level, from differing to equal. The level tells how often pairs that belong together reach it
// (learnt, by field), against how often others do: as many as have that value, or come as near to it. So a field that two
// lists spell differently counts little when it differs, and a rare value counts more than a common one when it agrees.

import type { AssetIndex } from './asset-index.ts'
import { candidatesOf, keyMatchesOf } from './candidates.ts'
import { namesNoCode } from './code-similarity.ts'
import type { Comparable } from './comparable.ts'
import { daysApart } from './dates.ts'
import { explainedSimilarity } from './number-similarity.ts'
import type { Query, Term } from './query.ts'
import { countAlike } from './rarity.ts'
import { type Kind, kindOf, similarityOf } from './similarity.ts'
import { sharedWords } from './text-similarity.ts'

export interface LearntWeights {
  /** Natural logarithm of the odds that the two belong together. */
  oddsOf(query: Query, asset: number): number
  /** The same of all assets, before anything is compared; below 0. */
  readonly leastOdds: number
}

/** Fewer items or assets teach nothing that is not chance. */
const leastRows = 20
const rounds = 10
/** The assumptions made before any pair is seen weigh as much as so many pairs. */
const assumedPairs = 5
const assumedShare = 0.7
const leastShare = 0.0005
/** Of the items. Values that nearly all assets have tell nobody apart, and then nothing is learnt from them. */
const leastFound = 0.1
/** A belief below this changes nothing. */
const leastBelief = 1e-4

/** How often pairs that belong together are assumed to reach each level. */
const assumed: Readonly<Record<Kind, readonly number[]>> = {
  number: [0.02, 0.02, 0.04, 0.12, 0.8],
  code: [0.1, 0.05, 0.05, 0.1, 0.7],
  text: [0.05, 0.05, 0.1, 0.2, 0.6],
  day: [1, 1, 2, 3, 8, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 4, 3, 2, 1].map((parts) => parts / 100),
}
/** Likeness from which the levels above the lowest begin. */
const similarityBounds = [1e-9, 0.6, 0.85, 0.98]
/** Days from the asset's to the item's from which the levels above the lowest begin. */
const dayBounds = [-60, -14, -3, 0, 1, 4, 7, 10, 14, 18, 22, 26, 30, 35, 40, 46, 53, 61, 75, 95, 130]
/** A text of several rare words tells more than that one asset has it. */
const maxInformationShare = 1.6
/** A digit of a sum tells a little less than the logarithm of ten: first digits are not evenly spread. */
const digitInformation = 1.9
/** A word that another field has told already. */
const againShare = 0.25
/** Pairs taken to learn how far any two days lie apart. */
const sampledPairs = 3_000

/** Undefined where there are too few rows, or hardly any belong together as far as their values tell. */
export function learnWeights(queries: readonly Query[], index: AssetIndex): LearntWeights | undefined {
  const telling = queries.filter(({ terms }) => terms.length > 0)
  if (telling.length < leastRows || index.assets.length < leastRows) return undefined
  const learning = new Learning(telling, index)
  return learning.share < leastFound ? undefined : learning
}

/** One field of the input against one of the table. */
interface FieldPair {
  /** Of pairs that belong together, how many reach each level. */
  shares: readonly number[]
  readonly assumed: readonly number[]
  /** Natural logarithms of how rarely any two reach it; undefined where that depends on the value. */
  readonly surprises: readonly number[] | undefined
  sums: number[]
}

interface FieldLevel {
  readonly column: FieldPair
  readonly level: number
  /** Natural logarithm of how rarely others reach it. */
  readonly surprise: number
}

/** Two texts with something in common. */
interface TextPair {
  readonly term: Term
  readonly own: Comparable
  readonly column: FieldPair
  readonly level: number
  /** Assets that come as near. */
  readonly near: number
}

class Learning implements LearntWeights {
  readonly #index: AssetIndex
  readonly #columns = new Map<string, FieldPair>()
  readonly #pairs = new Map<Query, Map<number, readonly FieldLevel[]>>()
  readonly #similarities = new Map<Comparable, Map<Comparable, number>>()
  /** By query, term and level: assets that come as near. */
  readonly #near = new Map<Query, readonly (readonly number[])[]>()
  readonly #queries: readonly Query[]
  #share = assumedShare

  constructor(queries: readonly Query[], index: AssetIndex) {
    this.#index = index
    this.#queries = queries
    const candidates = queries.map((query) => this.#candidatesOf(query))
    for (let round = 0; round < rounds; round++) this.#learn(candidates)
  }

  /** Of the items, how many belong to an asset. */
  get share(): number {
    return this.#share
  }

  get leastOdds(): number {
    return Math.log(this.#share / (1 - this.#share) / this.#index.assets.length)
  }

  oddsOf(query: Query, asset: number): number {
    let pairs = this.#pairs.get(query)
    if (pairs === undefined) this.#pairs.set(query, (pairs = new Map()))
    let fields = pairs.get(asset)
    if (fields === undefined) pairs.set(asset, (fields = this.#compare(query, asset)))
    return this.#oddsOf(fields)
  }

  #oddsOf(fields: readonly FieldLevel[]): number {
    let odds = this.leastOdds
    for (const { column, level, surprise } of fields)
      odds += Math.log(column.shares[level] ?? leastShare) + surprise
    return odds
  }

  // One step: who belongs together as far as is known, and what follows from that.
  #learn(candidates: readonly (readonly (readonly FieldLevel[])[])[]): void {
    for (const column of this.#columns.values()) column.sums = column.sums.map(() => 0)
    let found = 0
    for (const pairs of candidates) {
      const odds = pairs.map((fields) => this.#oddsOf(fields))
      const most = Math.max(0, ...odds)
      const parts = odds.map((each) => Math.exp(each - most))
      const all = parts.reduce((sum, part) => sum + part, Math.exp(-most))
      for (const [at, fields] of pairs.entries()) {
        const belief = (parts[at] ?? 0) / all
        if (belief < leastBelief) continue
        found += belief
        for (const { column, level } of fields) column.sums[level] = (column.sums[level] ?? 0) + belief
      }
    }
    for (const column of this.#columns.values()) column.shares = sharesOf(column)
    this.#share = Math.min(0.98, Math.max(0.05, found / this.#queries.length))
  }

  #candidatesOf(query: Query): (readonly FieldLevel[])[] {
    const assets = [...new Set([...keyMatchesOf(query), ...candidatesOf(query, this.#index.assets.length)])]
    const near = query.terms.map(({ field, value }) => {
      const counts = similarityBounds.map(() => 0)
      for (const asset of assets) {
        const own = field.values[asset]
        if (own === undefined) continue
        for (let level = levelOf(similarityBounds, this.#similarityOf(field, value, own)); level > 0; level--)
          counts[level - 1]!++
      }
      return counts
    })
    this.#near.set(query, near)
    return assets.map((asset) => {
      this.oddsOf(query, asset)
      return this.#pairs.get(query)?.get(asset) ?? []
    })
  }

  #compare(query: Query, asset: number): FieldLevel[] {
    const fields: FieldLevel[] = []
    const texts: TextPair[] = []
    for (const [at, term] of query.terms.entries()) {
      const own = term.field.values[asset]
      if (own === undefined) continue
      const kind = kindOf(term.value, own, term.field.isCode)
      const column = this.#columnOf(term, kind)
      if (kind === 'day') {
        const level = levelOf(dayBounds, daysApart(term.value.days, own.days))
        fields.push({ column, level, surprise: column.surprises?.[level] ?? 0 })
        continue
      }
      const similarity = this.#similarityOf(term.field, term.value, own)
      if (kind === 'code' && similarity === 0 && namesNoCode(term.value)) continue
      const level =
        kind === 'number' ? levelOfNumber(term.value, own, similarity) : levelOf(similarityBounds, similarity)
      const near = this.#near.get(query)?.[at] ?? []
      if (kind === 'text' && level > 0) texts.push({ term, own, column, level, near: near[level - 1] ?? 0 })
      else fields.push({ column, level, surprise: this.#surpriseOf(term, own, { level, similarity, near }) })
    }
    return [...fields, ...this.#surprisesOfTexts(texts)]
  }

  // Words tell once: of a city whose name its airport bears, the second mention is no news.
  #surprisesOfTexts(texts: readonly TextPair[]): FieldLevel[] {
    const total = this.#index.assets.length
    const told = texts.map(({ term: { field, value }, own, column, level, near }) => {
      const words = [...sharedWords(value, own)].map(([word, likeness]): [string, number] => {
        const count = field.postings.get(`t:${word}`)?.length ?? 1
        return [word, likeness * Math.log(total / count)]
      })
      // Alike as a whole, and in no word: spaces are missing, for instance.
      if (words.length === 0) words.push([own.compact, Math.log(total / Math.max(1, near))])
      const all = words.reduce((sum, [, news]) => sum + news, 0)
      const count = field.postings.get(`t:${own.compact}`)?.length ?? 1
      const most = count > 1 ? Math.log(total / count) : maxInformationShare * Math.log(total)
      return { column, level, words, all, most }
    })
    const known = new Set<string>()
    return told
      .toSorted((a, b) => b.all - a.all)
      .map(({ column, level, words, all, most }) => {
        let fresh = 0
        for (const [word, news] of words) {
          fresh += known.has(word) ? news * againShare : news
          known.add(word)
        }
        const share = all === 0 ? 0 : fresh / all
        return { column, level, surprise: share * Math.min(all, most) }
      })
  }

  #surpriseOf(
    { field, value }: Term,
    own: Comparable,
    { level, similarity, near }: { level: number; similarity: number; near: readonly number[] },
  ): number {
    const total = this.#index.assets.length
    if (level > 0) {
      const alike = countAlike(field, value, own, similarity)
      const [number] = own.numbers
      // A sum that one asset has, to the cent, tells more than that; a round one does not.
      if (alike === 1 && similarity >= 1 && number !== undefined && !field.isCode)
        return Math.min(maxInformationShare * Math.log(total), digitInformation * digitsOf(number))
      return Math.log(
        total / Math.min(total, Math.max(1, alike, similarity >= 1 ? 0 : (near[level - 1] ?? 0))),
      )
    }
    const alike = Math.max(near[0] ?? 0, countAlike(field, value, value, 1))
    return -Math.log(Math.max(0.05, 1 - alike / total))
  }

  /** Many items have the same values. */
  #similarityOf(field: Term['field'], value: Comparable, own: Comparable): number {
    let known = this.#similarities.get(value)
    if (known === undefined) this.#similarities.set(value, (known = new Map()))
    let likeness = known.get(own)
    if (likeness === undefined) known.set(own, (likeness = similarityOf(value, own, field)))
    return likeness
  }

  #columnOf({ cell, field }: Term, kind: Kind): FieldPair {
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
    const given = this.#queries.flatMap(({ terms }) =>
      terms.filter((term) => term.cell.key === key && term.field === field),
    )
    const counts = [...dayBounds, 0].map(() => 1)
    for (let at = 0; at < sampledPairs; at++) {
      const own = field.values[(at * 7919) % field.values.length]
      const { value } = given[(at * 104_729) % given.length] ?? {}
      if (own === undefined || value === undefined || own.days.length === 0 || value.days.length === 0)
        continue
      counts[levelOf(dayBounds, daysApart(value.days, own.days))]!++
    }
    const all = counts.reduce((sum, count) => sum + count, 0)
    return counts.map((count) => Math.log(all / count))
  }
}

function sharesOf({ sums, assumed: before }: FieldPair): number[] {
  const all = sums.reduce((sum, each) => sum + each, assumedPairs)
  // Days beside one another are as usual as one another.
  const seen = before === assumed.day ? sums.map((_, level) => smoothed(sums, level)) : sums
  return seen.map((sum, level) => Math.max(leastShare, (sum + assumedPairs * (before[level] ?? 0)) / all))
}

function smoothed(sums: readonly number[], level: number): number {
  const own = sums[level] ?? 0
  return ((sums[level - 1] ?? own) + 2 * own + (sums[level + 1] ?? own)) / 4
}

/** Equal, a difference with one of two kinds of names, near. */
function levelOfNumber(given: Comparable, own: Comparable, similarity: number): number {
  if (similarity >= 1) return 4
  if (similarity === 0) return 0
  const explained = Math.max(
    ...given.numbers.flatMap((one) => own.numbers.map((other) => explainedSimilarity(one, other))),
  )
  if (explained >= 0.9) return 3
  return explained > 0 ? 2 : 1
}

/** Those before the zeros at its end. */
function digitsOf(number: number): number {
  return String(Math.round(Math.abs(number) * 100)).replace(/0+$/, '').length
}

function levelOf(bounds: readonly number[], value: number): number {
  let level = 0
  while (level < bounds.length && value >= (bounds[level] ?? Infinity)) level++
  return level
}
