// One field of a table over all its assets: the values as they are compared, how telling the field is, and where each
// value is found. Made when an input first asks for the field.

import { type Comparable, comparableOf, exactKeysOf, searchKeysOf } from './comparable.ts'

export interface AssetField {
  /** As the first asset spells it. */
  readonly name: string
  /** By asset number; undefined where the asset has none. */
  readonly values: readonly (Comparable | undefined)[]
  /** 0.25 (the same everywhere) … 1 (different everywhere): the field's share in a score. */
  readonly weight: number
  /** Different everywhere and no mere amount or day: equality alone decides. */
  readonly isKey: boolean
  /** Its values are codes: one character off is another value. */
  readonly isCode: boolean
  /** Search key → numbers of the assets that have it, ascending. */
  readonly postings: ReadonlyMap<string, readonly number[]>
  /** Words one keystroke away from this one that the field's values hold. */
  nearWords(word: string): readonly string[]
}

const leastWeight = 0.25

/** `isName` marks the asset's own name or id: a key whenever its values are different everywhere. */
export function assetFieldOf(name: string, raw: readonly unknown[], isName: boolean): AssetField {
  const values = raw.map(comparableOf)
  const present = values.filter((value) => value !== undefined)
  const postings = postingsOf(values)
  const distinct = new Set(present.map((value) => exactKeysOf(value)[0])).size
  const isUnique = present.length > 0 && distinct === present.length
  const codes = present.filter(isCodeLike).length
  const isCode = present.length > 0 && codes >= present.length * 0.9
  let near: ReadonlyMap<string, readonly string[]> | undefined
  return {
    name,
    values,
    weight: leastWeight + (1 - leastWeight) * (present.length === 0 ? 0 : distinct / present.length),
    isKey: isUnique && (isName || isCode || (hasKeyName(name) && !present.some(isAmountOrDay))),
    isCode,
    postings,
    nearWords(word) {
      near ??= nearWordsOf(postings)
      const found = new Set(deletionsOf(word).flatMap((stem) => near?.get(stem) ?? []))
      found.delete(word)
      return [...found]
    },
  }
}

function postingsOf(values: readonly (Comparable | undefined)[]): Map<string, number[]> {
  const postings = new Map<string, number[]>()
  for (const [asset, value] of values.entries()) {
    if (value === undefined) continue
    for (const key of searchKeysOf(value)) {
      const assets = postings.get(key)
      if (assets === undefined) postings.set(key, [asset])
      else assets.push(asset)
    }
  }
  return postings
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
function nearWordsOf(postings: ReadonlyMap<string, unknown>): Map<string, string[]> {
  const near = new Map<string, string[]>()
  for (const key of postings.keys()) {
    if (!key.startsWith('t:')) continue
    const word = key.slice(2)
    for (const stem of deletionsOf(word)) {
      const words = near.get(stem)
      if (words === undefined) near.set(stem, [word])
      else words.push(word)
    }
  }
  return near
}

function deletionsOf(word: string): string[] {
  if (word.length < 4 || word.length > 32) return []
  const stems = new Set([word])
  for (let at = 0; at < word.length; at++) stems.add(word.slice(0, at) + word.slice(at + 1))
  return [...stems]
}
