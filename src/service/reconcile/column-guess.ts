// Guesses the table's field for a column of the input, where the table has no field of its name: the field in which most of the
// column's values occur.

import type { AssetField } from './asset-field.ts'
import type { AssetIndex } from './asset-index.ts'
import { joinedWords } from './code-similarity.ts'
import { type Comparable, comparableOf, exactKeysOf } from './comparable.ts'
import type { Item } from './input-shape.ts'

/** Number of values of a column that are looked up at most. */
const mostLookups = 200
/** Least share of a column's values that must occur in a field. */
const leastShare = 0.3
/** Values that a larger share of the assets has are no evidence, nor are words shorter than `leastLetters`. */
const tooCommonShare = 0.05
const leastLetters = 4

/** Returns the guessed fields by key of the input; columns without one are left out. */
export function guessFields(items: readonly Item[], index: AssetIndex): ReadonlyMap<string, AssetField> {
  const guesses = new Map<string, AssetField>()
  for (const [key, values] of unknownColumns(items, index)) {
    let best = leastShare
    for (const field of index.fields()) {
      const found = values.filter((value) => isIn(field, value)).length / values.length
      // Of equal fields the first one of the table wins.
      if (found < best || (found === best && guesses.has(key))) continue
      best = found
      guesses.set(key, field)
    }
  }
  return guesses
}

function unknownColumns(items: readonly Item[], index: AssetIndex): Map<string, Comparable[]> {
  const keys = new Set(items.flatMap(({ cells }) => cells.map(({ key }) => key)))
  const unknown = [...keys].filter((key) => index.field(key) === undefined)
  const columns = new Map<string, Comparable[]>(unknown.map((key) => [key, []]))
  for (const { cells } of columns.size === 0 ? [] : items) {
    for (const { key, value } of cells) {
      const values = columns.get(key)
      const comparable =
        values === undefined || values.length >= mostLookups ? undefined : comparableOf(value)
      if (comparable !== undefined) values?.push(comparable)
    }
  }
  for (const [key, values] of columns) if (values.length === 0) columns.delete(key)
  return columns
}

/** True where an asset has the value, or a distinctive part of it: a code in a sentence, half of the longer words. */
function isIn(field: AssetField, value: Comparable): boolean {
  const has = (key: string): boolean => {
    const count = field.postings.get(key)?.length ?? 0
    return count > 0 && (count === 1 || count <= field.values.length * tooCommonShare)
  }
  if (exactKeysOf(value).some(has)) return true
  if (value.numbers.length > 0 || value.days.length > 0) return false
  if (field.isCode) return joinedWords(value).some((code) => has(`t:${code}`))
  const words = value.words.filter((word) => word.length >= leastLetters)
  return words.length > 0 && words.filter((word) => has(`t:${word}`)).length * 2 >= words.length
}
