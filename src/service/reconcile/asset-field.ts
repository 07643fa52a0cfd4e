// One field of a table over all its assets: the values as they are compared, how telling the field is, and where each
// value is found. Made when an input first asks for the field.

import { type Comparable, comparableOf, exactKeysOf, searchKeysOf } from './comparable.ts'
import { type NearNumbers, nearNumbersOf } from './near-numbers.ts'
import { wordRarity } from './rarity.ts'

export interface AssetField {
  /** As the first asset spells it. */
  readonly name: string
  /** By asset number; undefined where the asset has none. */
  readonly values: readonly (Comparable | undefined)[]
  /** 0.25 (the same everywhere) … 1 (different everywhere): how much a difference tells. */
  readonly weight: number
  /** Different everywhere and no mere amount or day: equality alone decides. */
  readonly isKey: boolean
  /** Its values are codes: one character off is another value. */
  readonly isCode: boolean
  /** Search key → numbers of the assets that have it, ascending. */
  readonly postings: ReadonlyMap<string, readonly number[]>
  /** How telling one of its words is, above 0 … 1. */
  wordWeight(word: string): number
  /** Words one keystroke away from this one that the field's values hold. */
  nearWords(word: string): readonly string[]
  /** Its numbers by size. */
  readonly numbers: NearNumbers
}

const leastWeight = 0.25

/** The values of a field, made comparable. Their number only grows: rows are added to a table, never changed. */
export class FieldValues {
  readonly values: (Comparable | undefined)[] = []
  readonly postings: Map<string, number[]> = new Map()
  readonly #distinct = new Set<string | undefined>()
  presentCount = 0
  codeCount = 0
  hasAmountOrDay = false
  #near: Map<string, string[]> | undefined
  #newWords: string[] = []
  #numbers: NearNumbers | undefined

  get distinctCount(): number {
    return this.#distinct.size
  }

  /** Values of the assets that follow those known. */
  add(raw: Iterable<unknown>): void {
    this.#numbers = undefined
    for (const one of raw) {
      const asset = this.values.length
      const value = comparableOf(one)
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

/** `isName` marks the asset's own name or id: a key whenever its values are different everywhere. */
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

// One word holding a digit, and more than a day or an amount: INV-4711, DE89 3704 …, 4006381333931.
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

// Two words are one keystroke apart (one more, one less, one other, two swapped) only if they share a form with one
// character deleted; kept for words of four characters and more.
function deletionsOf(word: string): string[] {
  if (word.length < 4 || word.length > 32) return []
  const stems = new Set([word])
  for (let at = 0; at < word.length; at++) stems.add(word.slice(0, at) + word.slice(at + 1))
  return [...stems]
}
