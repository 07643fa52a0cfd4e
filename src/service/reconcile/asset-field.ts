// One field of a table over all its assets: comparable values, weight, and an inverted index from values and words to assets.
// It is made when an input first has a key of that name.

import { type Comparable, comparableOf, exactKeysOf, searchKeysOf } from './comparable.ts'
import { type NearNumbers, nearNumbersOf } from './near-numbers.ts'
import { wordRarity } from './rarity.ts'

export interface AssetField {
  /** In the spelling of the first asset that has the field. */
  readonly name: string
  /** By index of the asset; undefined where the asset has no value. */
  readonly values: readonly (Comparable | undefined)[]
  /** Weight of a difference: 0.25 (all assets have the same value) … 1 (all values are different). */
  readonly weight: number
  /** All values are different, and no amounts or days: an equal value identifies the asset. */
  readonly isKey: boolean
  /** The values are codes: a difference of one character makes another value. */
  readonly isCode: boolean
  /** Search key (`t:weber`, `n:12.5`, `d:2024-01-31`) → indexes of the assets that have it, ascending. */
  readonly postings: ReadonlyMap<string, readonly number[]>
  /** Weight of a word, above 0 … 1: the rarer, the greater. */
  wordWeight(word: string): number
  /** Words of the field's values that are one keystroke away from `word`. */
  nearWords(word: string): readonly string[]
  /** Index of the numbers by size. */
  readonly numbers: NearNumbers
}

const leastWeight = 0.25

/** The comparable values of a field, by index of the asset. Values are only added: rows of a table never change. */
export class FieldValues {
  readonly values: (Comparable | undefined)[] = []
  readonly postings: Map<string, number[]> = new Map()
  readonly #distinct = new Set<string | undefined>()
  /** Number of assets with a value, and with one that looks like a code. */
  presentCount = 0
  codeCount = 0
  hasAmountOrDay = false
  /** Words by their forms with one character deleted; `#newWords` are not in it yet. */
  #near: Map<string, string[]> | undefined
  #newWords: string[] = []
  #numbers: NearNumbers | undefined

  get distinctCount(): number {
    return this.#distinct.size
  }

  /** Adds the values of the next assets. */
  add(raw: Iterable<unknown>): void {
    this.#numbers = undefined
    for (const rawValue of raw) {
      const asset = this.values.length
      const value = comparableOf(rawValue)
      this.values.push(value)
      if (value === undefined) continue
      this.presentCount++
      this.#distinct.add(exactKeysOf(value)[0])
      if (isCodeLike(value)) this.codeCount++
      this.hasAmountOrDay ||= isAmountOrDay(value)
      for (const key of searchKeysOf(value)) this.#post(key, asset)
    }
  }

  get numbers(): NearNumbers {
    this.#numbers ??= nearNumbersOf(this.values)
    return this.#numbers
  }

  nearWords(word: string): string[] {
    this.#near ??= new Map()
    for (const known of this.#newWords.splice(0)) {
      for (const stem of deletionsOf(known)) push(this.#near, stem, known)
    }
    const found = new Set(deletionsOf(word).flatMap((stem) => this.#near?.get(stem) ?? []))
    found.delete(word)
    return [...found]
  }

  #post(key: string, asset: number): void {
    if (!this.postings.has(key) && key.startsWith('t:')) this.#newWords.push(key.slice(2))
    push(this.postings, key, asset)
  }
}

/** `isName`: the field is the name or id of the assets, which is a key whenever all values are different. */
export function assetFieldOf(name: string, known: FieldValues, isName: boolean): AssetField {
  const { values, postings, presentCount: present, distinctCount: distinct } = known
  const isUnique = present > 0 && distinct === present
  const isCode = present > 0 && known.codeCount >= present * 0.9
  return {
    name,
    values,
    weight: Math.max(leastWeight, present <= 1 ? 1 : Math.log(distinct) / Math.log(present)),
    isKey: isUnique && (isName || isCode || (hasKeyName(name) && !known.hasAmountOrDay)),
    isCode,
    postings,
    wordWeight: (word) => wordRarity(postings, values.length, word),
    nearWords: (word) => known.nearWords(word),
    get numbers() {
      return known.numbers
    },
  }
}

function push<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

function hasKeyName(name: string): boolean {
  const words = name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').toLowerCase()
  return /(?<!\p{L})(id|uuid|no|nr|num|number|nummer|code|sku|ref|reference|key|iban|vat|ean|gtin|isbn|serial|e-?mail)(?!\p{L})/u.test(
    words,
  )
}

// True for one word with a digit that is no day and no amount: INV-4711, DE89 3704 …, 4006381333931.
function isCodeLike(value: Comparable): boolean {
  if (isAmountOrDay(value) || !/\p{N}/u.test(value.compact)) return false
  if (value.numbers.length > 0) return value.compact.length >= 4
  return value.words.every((word) => /\p{N}/u.test(word) || word.length <= 4)
}

function isAmountOrDay(value: Comparable): boolean {
  if (value.numbers.length > 0)
    return value.unit !== undefined || value.numbers.some((number) => !Number.isInteger(number))
  return value.days.length > 0
}

// The word, and its forms with one character deleted. Two words that are one keystroke apart (insertion, deletion,
// substitution, swap) share one of these. None for words of less than four characters.
function deletionsOf(word: string): string[] {
  if (word.length < 4 || word.length > 32) return []
  const stems = new Set([word])
  for (let at = 0; at < word.length; at++) stems.add(word.slice(0, at) + word.slice(at + 1))
  return [...stems]
}
