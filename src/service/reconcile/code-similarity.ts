// How alike a written code and an asset's code are: one character off is usually another thing.

import type { Comparable } from './comparable.ts'
import { levenshteinRatio } from './text-similarity.ts'

/** A code one character off counts this much at most. */
const nearCodeSimilarity = 0.5
const leastCodeSimilarity = 0.75
/** `invoice INV-17 of May` holds the code INV-17. */
export const containedSimilarity = 0.95
/** `invoice 17` may mean INV-2026-0017. */
const tailSimilarity = 0.8
const leastTailDigits = 3
/** Words joined at most to make a code of them. */
const maxJoinedWords = 5
const leastCodeCharacters = 5

/** 0 … 0.95: equal codes are not asked for. `given` is what was written, `code` the asset's. */
export function codeSimilarity(value: Comparable, code: Comparable): number {
  if (joinedWords(value).includes(code.compact)) return containedSimilarity
  const tail = /\p{N}+$/u.exec(code.words.at(-1) ?? '')?.[0].replace(/^0+/, '') ?? ''
  const isTail =
    tail.length >= leastTailDigits && value.words.some((word) => word.replace(/^0+/, '') === tail)
  if (isTail) return tailSimilarity
  const ratio = levenshteinRatio(value.compact, code.compact)
  return ratio >= leastCodeSimilarity ? ratio * nearCodeSimilarity : 0
}

/** The codes a text of several words may hold: words that stand together, joined, with a digit in them. */
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

/** Words only, as `thank you`: they name no code, and so are none that differs. */
export function hasNoCode(value: Comparable): boolean {
  return !value.words.some((word) => word.replaceAll(/\P{N}/gu, '').length >= leastTailDigits)
}
