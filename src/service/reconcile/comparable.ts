// One value as the engine compares it: its words, and the numbers and days it may mean.

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
  /** Without spaces, legal forms and forms of address; all of it where nothing else is in it. */
  readonly core: string
  /** Readings as a number; empty where the value is none. */
  readonly numbers: readonly number[]
  /** Currency code or `%`; undefined where none is written. */
  readonly unit: string | undefined
  /** Readings as a day, `YYYY-MM-DD`; empty where the value is none. */
  readonly days: readonly string[]
}

/** Undefined for what holds nothing to compare: null, empty text, empty lists and objects. */
export function comparableOf(value: unknown): Comparable | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'number') return ofText(String(value), [value], undefined, [])
  if (typeof value !== 'string')
    return isEmptyObject(value) ? undefined : ofText(JSON.stringify(value), [], undefined, [])
  if (value.trim() === '') return undefined
  // Neither a number nor a day has no digit; what is longer than any of them is text.
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

/** Two values with the same exact key are the same value; the index finds assets by them. */
export function exactKeysOf(value: Comparable): string[] {
  if (value.numbers.length > 0) return value.numbers.map((number) => `n:${number}`)
  if (value.days.length > 0) return value.days.map((day) => `d:${day}`)
  return [`t:${value.compact}`]
}

/** Every key under which a value may be found: exact keys, readings, and its words. */
export function searchKeysOf(value: Comparable): string[] {
  const keys = new Set(exactKeysOf(value))
  for (const day of value.days) keys.add(`d:${day}`)
  keys.add(`t:${value.compact}`)
  if (value.words.length > 1) for (const word of value.words.slice(0, 64)) keys.add(`t:${word}`)
  return [...keys]
}
