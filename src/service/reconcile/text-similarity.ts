// How alike two texts are, word by word. Words that few assets have tell more than words that many have, so that
// `Weber Handels GmbH` and `Weber Technik GmbH` are two companies.

import { distance } from 'fastest-levenshtein'
import type { Comparable } from './comparable.ts'

/** Characters of a text that are compared; longer texts differ or agree within them. */
const maxComparedCharacters = 256
/** Beyond this many words a text is compared as a whole. */
const maxComparedWords = 12
/** Below this, likeness of texts is chance. */
const leastTextSimilarity = 0.5
/** Words less alike than this are two words. */
const leastWordSimilarity = 0.7
/** From here on two texts are one with slips of the pen, spaces among them. */
const leastWholeSimilarity = 0.8
/** `Room 12` and `Room 13` are alike and not the same. */
const otherNumbersSimilarity = 0.6
/** A word cut short (`Hand.`, the end of a line), and a text all of whose words the other has. */
const cutSimilarity = 0.9
const leastContainedSimilarity = 0.8

/** Only legal forms, forms of address and spaces differ. */
const coreSimilarity = 0.99

/** How telling a word is, above 0 … 1. */
export type WordWeight = (word: string) => number

/** 0 … 0.99: equal texts are not asked for. */
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

// The share of the words, by weight, that have their like in the other text.
function alignedWords(a: readonly string[], b: readonly string[], weightOf: WordWeight): number {
  const left = foundWeight(a, weightOf, (word) =>
    greatestSimilarity(b, (other) => wordSimilarity(word, other)),
  )
  const right = foundWeight(b, weightOf, (assetWord) =>
    greatestSimilarity(a, (word) => wordSimilarity(word, assetWord)),
  )
  const share = (left.found + right.found) / (left.total + right.total)
  const shorter = left.total < right.total ? left : right
  const contained = shorter.found / shorter.total
  if (contained < leastContainedSimilarity) return share
  const shareOfLonger = shorter.total / Math.max(left.total, right.total)
  return Math.max(share, contained * (leastContainedSimilarity + 0.15 * shareOfLonger))
}

/** The words of `own` that the other text has, or nearly has, with their likeness. */
export function sharedWords(value: Comparable, assetValue: Comparable): Map<string, number> {
  const shared = new Map<string, number>()
  for (const word of assetValue.words.slice(0, maxComparedWords)) {
    const similarity = greatestSimilarity(value.words.slice(0, maxComparedWords), (one) =>
      wordSimilarity(one, word),
    )
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

function greatestSimilarity(words: readonly string[], similarityOf: (word: string) => number): number {
  let best = 0
  for (const word of words) best = Math.max(best, similarityOf(word))
  return best
}

// `given` may be cut short, the asset's own word is not.
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
