// How alike two values are, 0 … 1. Numbers are compared as numbers, days as days, codes strictly, words loosely.

import { distance } from 'fastest-levenshtein'
import type { Comparable } from './comparable.ts'

/** Characters of a text that are compared; longer texts differ or agree within them. */
const maxComparedCharacters = 256
/** Below this, likeness of texts is chance. */
const leastTextSimilarity = 0.5
/** A code (invoice number, SKU) one character off is usually another thing: it counts this much at most. */
const nearCodeSimilarity = 0.5
const leastCodeSimilarity = 0.75
/** `Room 12` and `Room 13` are alike and not the same. */
const otherNumbersSimilarity = 0.6

/** 1 for the same value however written; 0 for different ones. `isCode` says that one character makes another value. */
export function similarityOf(a: Comparable, b: Comparable, isCode: boolean): number {
  if (a.numbers.length > 0 && b.numbers.length > 0) return numberSimilarity(a, b, isCode)
  if (a.days.length > 0 && b.days.length > 0) return daySimilarity(a.days, b.days)
  if (a.compact === b.compact) return 1
  return isCode ? codeSimilarity(a, b) : textSimilarity(a, b)
}

function numberSimilarity(a: Comparable, b: Comparable, isCode: boolean): number {
  if (a.unit !== undefined && b.unit !== undefined && a.unit !== b.unit) return 0
  let best = 0
  for (const x of a.numbers) {
    for (const y of b.numbers) best = Math.max(best, closeness(x, y))
  }
  return isCode && best < 1 ? 0 : best
}

// One per cent apart counts 0.9, ten per cent and more count nothing. Whole numbers are equal or not; others may have lost
// their last digit to binary arithmetic.
function closeness(x: number, y: number): number {
  if (x === y) return 1
  const apart = Math.abs(x - y) / Math.max(Math.abs(x), Math.abs(y))
  if (apart < 1e-9 && !(Number.isInteger(x) && Number.isInteger(y))) return 1
  return Math.max(0, Math.min(0.99, 1 - apart * 10))
}

function daySimilarity(a: readonly string[], b: readonly string[]): number {
  let nearest = Number.POSITIVE_INFINITY
  for (const x of a) {
    for (const y of b) nearest = Math.min(nearest, Math.abs(Date.parse(x) - Date.parse(y)) / 86_400_000)
  }
  if (nearest === 0) return 1
  return nearest <= 3 ? 0.5 : 0
}

function codeSimilarity(a: Comparable, b: Comparable): number {
  const ratio = levenshteinRatio(a.compact, b.compact)
  return ratio >= leastCodeSimilarity ? ratio * nearCodeSimilarity : 0
}

function textSimilarity(a: Comparable, b: Comparable): number {
  const best = Math.max(
    levenshteinRatio(a.text, b.text),
    levenshteinRatio(sortedWords(a), sortedWords(b)),
    wordOverlap(a.words, b.words),
  )
  if (best < leastTextSimilarity) return 0
  return Math.min(best, haveOtherNumbers(a, b) ? otherNumbersSimilarity : 0.99)
}

function haveOtherNumbers(a: Comparable, b: Comparable): boolean {
  const x = numbersIn(a)
  const y = numbersIn(b)
  return x !== '' && y !== '' && x !== y
}

function numbersIn(value: Comparable): string {
  return value.words
    .filter((word) => /\p{N}/u.test(word))
    .toSorted()
    .join(' ')
}

function levenshteinRatio(a: string, b: string): number {
  const x = a.slice(0, maxComparedCharacters)
  const y = b.slice(0, maxComparedCharacters)
  return 1 - distance(x, y) / Math.max(x.length, y.length, 1)
}

function sortedWords(value: Comparable): string {
  return value.words.length === 1 ? value.text : value.words.toSorted().join(' ')
}

// Dice's coefficient over words; more where one text has all words of the other, as `Acme` and `Acme GmbH`.
function wordOverlap(a: readonly string[], b: readonly string[]): number {
  const left = new Set(a)
  const right = new Set(b)
  let shared = 0
  for (const word of left) if (right.has(word)) shared++
  const shorter = Math.min(left.size, right.size)
  if (shared === shorter) return 0.8 + 0.15 * (shorter / Math.max(left.size, right.size))
  return (2 * shared) / (left.size + right.size)
}
