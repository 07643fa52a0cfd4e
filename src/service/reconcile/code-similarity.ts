// Similarity of an input value and an asset's code. A code with one different character usually means another thing.

import type { Comparable } from './comparable.ts'
import { levenshteinRatio } from './text-similarity.ts'

/** Factor for a code that is nearly equal. */
const nearCodeSimilarity = 0.5
const leastCodeSimilarity = 0.75
/** `invoice INV-17 of May` contains the code INV-17. */
export const containedSimilarity = 0.95
/** `invoice 17` may mean INV-2026-0017. */
const tailSimilarity = 0.8
const leastTailDigits = 3
/** Number of words that are joined at most to form a code. */
const maxJoinedWords = 5
const leastCodeCharacters = 5

/** Returns 0 … 0.95 for codes that are not equal. `code` is the asset's. */
export function codeSimilarity(value: Comparable, code: Comparable): number {
  if (joinedWords(value).includes(code.compact)) return containedSimilarity
  const tail = /\p{N}+$/u.exec(code.words.at(-1) ?? '')?.[0].replace(/^0+/, '') ?? ''
  const isTail =
    tail.length >= leastTailDigits && value.words.some((word) => word.replace(/^0+/, '') === tail)
  if (isTail) return tailSimilarity
  const ratio = levenshteinRatio(value.compact, code.compact)
  return ratio >= leastCodeSimilarity ? ratio * nearCodeSimilarity : 0
}

/** The codes that a text of several words may contain: neighbouring words, joined, with a digit. */
export function joinedWords({ words }: Comparable): string[] {
  if (words.length === 1) return []
  const found: string[] = []
  for (let from = 0; from < Math.min(words.length, 16); from++) {
    let joined = ''
    for (const word of words.slice(from, from + maxJoinedWords)) {
      joined += word
      if (joined.length >= leastCodeCharacters && /\p{N}/u.test(joined)) found.push(joined)
    }
  }
  return found
}

/** True for a text like `thank you`, which has no code, so its difference from the asset's code is no evidence. */
export function hasNoCode(value: Comparable): boolean {
  return !value.words.some((word) => word.replaceAll(/\P{N}/gu, '').length >= leastTailDigits)
}
