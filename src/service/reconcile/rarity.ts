// How much it tells that a value agrees: a sum one asset has tells nearly which, a currency all have tells nothing.

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

/** 0.25 (every asset has it) … 1 (one has it). */
export function rarityOf(
  field: Field,
  value: Comparable,
  assetValue: Comparable,
  similarity: number,
): number {
  return shareOf(countAlike(field, value, assetValue, similarity), field.values.length)
}

/** How many assets agree with what is given as much as this one does; 1 at least. */
export function countAlike(
  field: Field,
  value: Comparable,
  assetValue: Comparable,
  similarity: number,
): number {
  if (similarity < 1 && value.numbers.length > 0 && assetValue.numbers.length > 0) {
    const [number = 0] = value.numbers
    const isExplained = assetValue.numbers.some((other) => explainedSimilarity(number, other) > 0)
    if (isExplained) return commonest(field, [assetValue, value])
    // The further apart, the more others are as near.
    const distance = Math.min(...assetValue.numbers.map((other) => Math.abs(other - number)))
    return Math.max(1, field.numbers.countWithin(number, distance))
  }
  // `Weber` may be any of the Webers.
  return commonest(field, similarity < 1 ? [assetValue, value] : [assetValue])
}

/** How many assets have one of the values at most. */
function commonest({ postings }: Field, values: readonly Comparable[]): number {
  return Math.max(1, ...values.flatMap(exactKeysOf).map((key) => postings.get(key)?.length ?? 0))
}

/** Of a word of a field, above 0 … 1; `Firma`, `c/o`, a slip of the pen: words no asset has tell half. */
export function wordRarity(postings: Postings, total: number, word: string): number {
  if (word.length <= 1 || isFormal(word)) return formalWordRarity
  const count = postings.get(`t:${word}`)?.length
  return count === undefined ? strangeWordRarity : shareOf(count, total)
}

function shareOf(count: number, total: number): number {
  if (total <= 1) return 1
  return Math.max(leastRarity, Math.min(1, 1 - Math.log(count) / Math.log(total)))
}
