// A matcher of names as programs have it after an afternoon: cosine of TF-IDF vectors over all words, and the likeness of the sets
// of words of each field, weighted and added, above a threshold.

import type { Airport, Airports } from './airports.ts'
import { type Pair, takeBestFirst } from './contestants.ts'
import type { Matches } from './judge.ts'
import { plain } from './read.ts'

export type TfIdfSettings = Readonly<Record<'least' | 'cosine' | 'name' | 'city' | 'country', number>>

export const tfIdfSettings: Readonly<Record<keyof TfIdfSettings, readonly number[]>> = {
  least: Array.from({ length: 12 }, (_, at) => 0.43 + at * 0.03),
  cosine: [1, 2],
  name: [1],
  city: [0.25, 0.5],
  country: [0.25, 0.5, 1],
}

const mostCandidates = 20

export function prepareTfIdf({ assets, items }: Airports): (settings: TfIdfSettings) => Matches {
  const wordsOf = ({ name, city, country }: Airport): string[] => [name, city, country].flatMap(wordsIn)
  const counts = new Map<string, number>()
  for (const asset of assets)
    for (const word of new Set(wordsOf(asset))) counts.set(word, (counts.get(word) ?? 0) + 1)
  const rarity = (word: string): number => Math.log((1 + assets.length) / (1 + (counts.get(word) ?? 0)))
  const vectorOf = (row: Airport): Map<string, number> => {
    const vector = new Map<string, number>()
    for (const word of wordsOf(row)) vector.set(word, (vector.get(word) ?? 0) + rarity(word))
    const length = Math.hypot(...vector.values()) || 1
    for (const [word, weight] of vector) vector.set(word, weight / length)
    return vector
  }
  const postings = new Map<string, [asset: number, weight: number][]>()
  for (const [at, asset] of assets.entries())
    for (const [word, weight] of vectorOf(asset)) {
      const list = postings.get(word)
      if (list === undefined) postings.set(word, [[at, weight]])
      else list.push([at, weight])
    }
  const sets = assets.map((asset) => ({
    name: new Set(wordsIn(asset.name)),
    city: new Set(wordsIn(asset.city)),
    country: new Set(wordsIn(asset.country)),
  }))
  const possible = items.flatMap((item, payment) => {
    const cosines = new Map<number, number>()
    for (const [word, weight] of vectorOf(item))
      for (const [asset, own] of postings.get(word) ?? [])
        cosines.set(asset, (cosines.get(asset) ?? 0) + weight * own)
    const nearest = [...cosines].sort((a, b) => b[1] - a[1]).slice(0, mostCandidates)
    return nearest.map(([invoice, cosine]) => ({
      payment,
      invoice,
      cosine,
      name: tokenSet(new Set(wordsIn(item.name)), sets[invoice]!.name),
      city: tokenSet(new Set(wordsIn(item.city)), sets[invoice]!.city),
      country: tokenSet(new Set(wordsIn(item.country)), sets[invoice]!.country),
    }))
  })
  return (settings) => {
    const total = settings.cosine + settings.name + settings.city + settings.country
    const pairs: Pair[] = []
    for (const { payment, invoice, cosine, name, city, country } of possible) {
      const score =
        (cosine * settings.cosine +
          name * settings.name +
          city * settings.city +
          country * settings.country) /
        total
      if (score >= settings.least) pairs.push({ payment, invoice, score })
    }
    return takeBestFirst(pairs, items.length)
  }
}

function wordsIn(text: string): string[] {
  return plain(text.normalize('NFKD').replaceAll(/[\u0300-\u036F]/g, ''))
    .split(' ')
    .filter((word) => word !== '')
}

/** Dice's coefficient; more where one has all words of the other. */
function tokenSet(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0
  let shared = 0
  for (const word of a) if (b.has(word)) shared++
  return Math.max((2 * shared) / (a.size + b.size), shared === Math.min(a.size, b.size) ? 0.9 : 0)
}
