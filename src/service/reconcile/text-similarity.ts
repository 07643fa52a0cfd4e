// Similarity of two texts, word by word. A word that few assets have has more weight than one that many have, so that
// `Weber Handels GmbH` and `Weber Technik GmbH` are two companies.

import { distance } from 'fastest-levenshtein'
import type { Comparable } from './comparable.ts'

/** Only so many characters of a text are compared. */
const maxComparedCharacters = 256
/** A text with more words is compared as a whole. */
const maxComparedWords = 12
/** A smaller similarity of texts is chance, and becomes 0. */
const leastTextSimilarity = 0.5
/** A smaller similarity of words is chance, and becomes 0. */
const leastWordSimilarity = 0.7
/** Edit-distance ratio from which two whole texts count as one with misspellings and missing spaces. */
const leastWholeSimilarity = 0.8
/** At most for texts with different numbers: `Room 12` and `Room 13`. */
const otherNumbersSimilarity = 0.6
/** A truncated word (`Hand.`, the end of a line). */
const cutSimilarity = 0.9
/** At least for a text all of whose words the other has. */
const leastContainedSimilarity = 0.8

/** Texts that differ only in legal forms, forms of address and spaces. */
const coreSimilarity = 0.99

/** Weight of a word, above 0 … 1: the rarer, the greater. */
export type WordWeight = (word: string) => number

/** Returns 0 … 0.99 for texts that are not equal. */
export function textSimilarity(a: Comparable, b: Comparable, weightOf: WordWeight): number {
  if (a.core === b.core) return coreSimilarity
  const isLong = a.words.length > maxComparedWords || b.words.length > maxComparedWords
  const whole = Math.max(
    levenshteinRatio(a.compact, b.compact),
    isLong ? levenshteinRatio(sortedWords(a), sortedWords(b)) : 0,
  )
  const byWords = isLong ? wordOverlap(a.words, b.words) : alignedWords(a.words, b.words, weightOf)
  const best = Math.max(byWords, isLong || whole >= leastWholeSimilarity ? whole : 0)
  if (best < leastTextSimilarity) return 0
  return Math.min(best, haveOtherNumbers(a, b) ? otherNumbersSimilarity : 0.99)
}

export function levenshteinRatio(a: string, b: string): number {
  const x = a.slice(0, maxComparedCharacters)
  const y = b.slice(0, maxComparedCharacters)
  return 1 - distance(x, y) / Math.max(x.length, y.length, 1)
}

// The share of the words, by weight, that have an equal or similar one in the other text.
function alignedWords(a: readonly string[], b: readonly string[], weightOf: WordWeight): number {
  const left = foundWeight(a, weightOf, (word) => bestMatch(b, (other) => wordSimilarity(word, other)))
  const right = foundWeight(b, weightOf, (other) => bestMatch(a, (word) => wordSimilarity(word, other)))
  const share = (left.found + right.found) / (left.total + right.total)
  const shorter = left.total < right.total ? left : right
  const contained = shorter.found / shorter.total
  if (contained < leastContainedSimilarity) return share
  const shareOfLonger = shorter.total / Math.max(left.total, right.total)
  return Math.max(share, contained * (leastContainedSimilarity + 0.15 * shareOfLonger))
}

/** The words of `assetValue` that have an equal or similar one in `value`, with that similarity. */
export function sharedWords(value: Comparable, assetValue: Comparable): Map<string, number> {
  const shared = new Map<string, number>()
  for (const word of assetValue.words.slice(0, maxComparedWords)) {
    const similarity = bestMatch(value.words.slice(0, maxComparedWords), (one) => wordSimilarity(one, word))
    if (similarity > 0) shared.set(word, similarity)
  }
  return shared
}

function foundWeight(
  words: readonly string[],
  weightOf: WordWeight,
  similarityOf: (word: string) => number,
): { found: number; total: number } {
  let found = 0
  let total = 0
  for (const word of words) {
    const weight = weightOf(word)
    total += weight
    found += weight * similarityOf(word)
  }
  return { found, total }
}

function bestMatch(words: readonly string[], similarityOf: (word: string) => number): number {
  let best = 0
  for (const word of words) best = Math.max(best, similarityOf(word))
  return best
}

// `word` may be truncated, the asset's word is not.
function wordSimilarity(word: string, assetWord: string): number {
  if (word === assetWord) return 1
  const x = folded(word)
  const y = folded(assetWord)
  if (x === y) return 1
  if (/\p{N}/u.test(x) || /\p{N}/u.test(y)) return 0
  if (x.length >= 3 && y.startsWith(x)) return cutSimilarity
  if (Math.min(x.length, y.length) < 4) return 0
  const ratio = levenshteinRatio(x, y)
  return ratio >= leastWordSimilarity ? ratio : 0
}

// Müller, Mueller and MULLER are one word.
function folded(word: string): string {
  return word.includes('e') ? word.replaceAll(/(?<=[aou])e/g, '') : word
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

function sortedWords(value: Comparable): string {
  return value.words.length === 1 ? value.text : value.words.toSorted().join(' ')
}

// Dice's coefficient over words; more where one text has all words of the other.
function wordOverlap(a: readonly string[], b: readonly string[]): number {
  const left = new Set(a)
  const right = new Set(b)
  let shared = 0
  for (const word of left) if (right.has(word)) shared++
  const shorter = Math.min(left.size, right.size)
  if (shared === shorter) return leastContainedSimilarity + 0.15 * (shorter / Math.max(left.size, right.size))
  return (2 * shared) / (left.size + right.size)
}
