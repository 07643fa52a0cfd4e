// A value in the form in which it is compared: its normalised words, and the numbers and days that it may mean.

import { readAmount } from './amounts.ts'
import { readDays } from './dates.ts'
import { isFormal } from './formal-words.ts'
import { normaliseText } from './normalise.ts'

export interface Comparable {
  /** Normalised words, one space between. */
  readonly text: string
  /** The words without spaces. */
  readonly compact: string
  readonly words: readonly string[]
  /** The words without legal forms, forms of address and spaces; `compact` where no word is left. */
  readonly core: string
  /** The numbers that the value may mean; empty where it is no number. */
  readonly numbers: readonly number[]
  /** Currency code or `%`; undefined where it has none. */
  readonly unit: string | undefined
  /** The days that the value may mean, `YYYY-MM-DD`; empty where it is no day. */
  readonly days: readonly string[]
}

/** Returns undefined for null, empty text, empty lists and empty objects. */
export function comparableOf(value: unknown): Comparable | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'number') return ofText(String(value), [value], undefined, [])
  if (typeof value !== 'string')
    return isEmptyObject(value) ? undefined : ofText(JSON.stringify(value), [], undefined, [])
  if (value.trim() === '') return undefined
  // Numbers and days have a digit, and no more than 40 characters.
  if (value.length > 40 || !/\d/.test(value)) return ofText(value, [], undefined, [])
  const amount = readAmount(value)
  return ofText(value, amount?.readings ?? [], amount?.unit, readDays(value))
}

function ofText(
  written: string,
  numbers: readonly number[],
  unit: string | undefined,
  days: readonly string[],
): Comparable {
  const text = normaliseText(written)
  const compact = text.replaceAll(' ', '')
  const words = text.split(' ')
  return {
    text,
    compact,
    words,
    core: words.filter((word) => !isFormal(word)).join('') || compact,
    numbers,
    unit,
    days,
  }
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** Keys for the index: `n:12.5`, `d:2024-01-31`, else `t:` and the text. Two values that share an exact key are equal. */
export function exactKeysOf(value: Comparable): string[] {
  if (value.numbers.length > 0) return value.numbers.map((number) => `n:${number}`)
  if (value.days.length > 0) return value.days.map((day) => `d:${day}`)
  return [`t:${value.compact}`]
}

/** All keys under which the index has a value: exact keys, days, the whole text, and its words. */
export function searchKeysOf(value: Comparable): string[] {
  const keys = new Set(exactKeysOf(value))
  for (const day of value.days) keys.add(`d:${day}`)
  keys.add(`t:${value.compact}`)
  if (value.words.length > 1) for (const word of value.words.slice(0, 64)) keys.add(`t:${word}`)
  return [...keys]
}
