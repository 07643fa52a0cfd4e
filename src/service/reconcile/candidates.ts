// Finds the assets to compare with an item, through the inverted index of each field: with 10,000 assets as fast as with few.

import { joinedWords } from './code-similarity.ts'
import { exactKeysOf, searchKeysOf } from './comparable.ts'
import type { Query, Term } from './query.ts'

/** Most assets that are compared with one item. */
export const maxCandidates = 32
/** Entries of the index that are read for one item, rarest words first: words that most assets have distinguish little. */
const maxPostings = 6_000

/** The assets whose key equals a value of the item, or is contained in it, ascending. Several when keys point to different ones. */
export function keyMatchesOf(query: Query): number[] {
  const found = new Set<number>()
  for (const { field, value } of query.terms) {
    if (!field.isKey) continue
    for (const key of exactKeysOf(value)) for (const asset of field.postings.get(key) ?? []) found.add(asset)
    if (!field.isCode) continue
    for (const code of joinedWords(value)) {
      for (const asset of field.postings.get(`t:${code}`) ?? [])
        if (field.values[asset]?.compact === code) found.add(asset)
    }
  }
  return [...found].sort((a, b) => a - b)
}

/** The `maxCandidates` assets, not in `except`, that share most values and words, rare ones counting more; then the first ones. */
export function candidatesOf(
  query: Query,
  assetCount: number,
  except?: ReadonlyMap<number, unknown>,
): number[] {
  const lists = query.terms.flatMap(postingsOf).sort((a, b) => a.length - b.length)
  const scores = new Float64Array(assetCount)
  const found: number[] = []
  let visited = 0
  for (const list of lists) {
    // The rarest word is looked up however many assets have it.
    if (visited > 0 && visited + list.length > maxPostings) break
    visited += list.length
    const rarity = Math.log1p(assetCount / list.length)
    for (const asset of list) {
      if (scores[asset] === 0) found.push(asset)
      scores[asset] = (scores[asset] ?? 0) + rarity
    }
  }
  return mostPromising(except === undefined ? found : found.filter((asset) => !except.has(asset)), scores)
}

function postingsOf({ field, value }: Term): (readonly number[])[] {
  const lists: (readonly number[])[] = field.isCode
    ? []
    : value.numbers.map((number) => field.numbers.near(number))
  const words = new Set([value.compact, ...value.words.slice(0, 64)])
  for (const key of searchKeysOf(value)) if (!key.startsWith('t:')) words.add(key)
  // The value may be the first of two instalments: half of the asset's number.
  if (!field.isCode) for (const number of value.numbers) words.add(`n:${2 * number}`)
  for (const word of words) {
    const exact = field.postings.get(word.startsWith('n:') || word.startsWith('d:') ? word : `t:${word}`)
    if (exact !== undefined) lists.push(exact)
    else for (const near of field.nearWords(word)) lists.push(field.postings.get(`t:${near}`) ?? [])
  }
  return lists.filter((list) => list.length > 0)
}

// Selects the best in one pass: of thousands, the first comparison excludes almost all.
function mostPromising(found: readonly number[], promise: Float64Array): number[] {
  const best: number[] = []
  // Rounded, so that the order in which fields were added up cannot decide between equals.
  const promiseOf = (asset: number): number => Math.round((promise[asset] ?? 0) * 1e6)
  const isBetter = (a: number, b: number): boolean =>
    promiseOf(a) > promiseOf(b) || (promiseOf(a) === promiseOf(b) && a < b)
  for (const asset of found) {
    const last = best.at(-1)
    if (best.length === maxCandidates && last !== undefined && !isBetter(asset, last)) continue
    const at = best.findIndex((other) => isBetter(asset, other))
    best.splice(at === -1 ? best.length : at, 0, asset)
    if (best.length > maxCandidates) best.pop()
  }
  return best
}
