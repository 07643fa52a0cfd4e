// Rarity of a value among the assets, the weight of an agreement: a sum that one asset has nearly identifies it, a currency that
// all have is no evidence.

import { type Comparable, exactKeysOf } from './comparable.ts'
import { isFormal } from './formal-words.ts'
import { explainedSimilarity } from './number-similarity.ts'

const leastRarity = 0.25
const strangeWordRarity = 0.5
const formalWordRarity = 0.05

/** Search key → the assets that have it. */
type Postings = ReadonlyMap<string, readonly number[]>

interface Field {
  readonly postings: Postings
  readonly values: readonly unknown[]
  readonly numbers: { countWithin(number: number, distance: number): number }
}

/** Returns 0.25 (every asset has the value) … 1 (one has it). */
export function rarityOf(field: Field, value: Comparable, asset: Comparable, similarity: number): number {
  return shareOf(countAlike(field, value, asset, similarity), field.values.length)
}

/** Number of assets that are as similar to `value` as `asset`, the value of one of them; 1 at least. */
export function countAlike(field: Field, value: Comparable, asset: Comparable, similarity: number): number {
  if (similarity < 1 && value.numbers.length > 0 && asset.numbers.length > 0) {
    const [number = 0] = value.numbers
    const isExplained = asset.numbers.some((other) => explainedSimilarity(number, other) > 0)
    if (isExplained) return commonest(field, [asset, value])
    // The greater the distance, the more assets are within it.
    const distance = Math.min(...asset.numbers.map((other) => Math.abs(other - number)))
    return Math.max(1, field.numbers.countWithin(number, distance))
  }
  // A similar text may be shorter: `Weber` fits all assets that it equals, too.
  return commonest(field, similarity < 1 ? [asset, value] : [asset])
}

/** The largest number of assets that have the same value, over `values`; 1 at least. */
function commonest({ postings }: Field, values: readonly Comparable[]): number {
  return Math.max(1, ...values.flatMap(exactKeysOf).map((key) => postings.get(key)?.length ?? 0))
}

/** Rarity of a word in a field, above 0 … 1. Words that no asset has (`c/o`, a misspelling) count half. */
export function wordRarity(postings: Postings, total: number, word: string): number {
  if (word.length <= 1 || isFormal(word)) return formalWordRarity
  const count = postings.get(`t:${word}`)?.length
  return count === undefined ? strangeWordRarity : shareOf(count, total)
}

function shareOf(count: number, total: number): number {
  if (total <= 1) return 1
  return Math.max(leastRarity, Math.min(1, 1 - Math.log(count) / Math.log(total)))
}
