// One-to-one assignment of assets to items with the greatest sum of scores.

import { munkres } from 'munkres'

/** A possible match; `score` is a whole number above 0. */
export interface Edge {
  readonly item: number
  readonly asset: number
  readonly score: number
}

/** Largest matrix that is solved exactly (Munkres); in a larger cluster of items and assets the best scores are assigned first. */
const maxMatrixCells = 250_000

/** Returns item → asset. Deterministic: of equal solutions, that in which lower items get lower assets. */
export function assign(edges: readonly Edge[]): Map<number, number> {
  const assigned = new Map<number, number>()
  for (const cluster of clustersOf(edges)) {
    const items = [...new Set(cluster.map((edge) => edge.item))].sort((a, b) => a - b)
    const assets = [...new Set(cluster.map((edge) => edge.asset))].sort((a, b) => a - b)
    const isSmall = items.length * (assets.length + items.length) <= maxMatrixCells
    const pairs = isSmall ? solveExactly(cluster, items, assets) : takeBestFirst(cluster)
    for (const [item, asset] of pairs) assigned.set(item, asset)
  }
  return assigned
}

// Clusters are the connected components of the graph. Each is solved separately: together they would be one huge matrix.
function clustersOf(edges: readonly Edge[]): Edge[][] {
  const parents = new Map<string, string>()
  const rootOf = (node: string): string => {
    let root = node
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next
    for (let at = node; at !== root;) {
      const next = parents.get(at) ?? root
      parents.set(at, root)
      at = next
    }
    return root
  }
  for (const { item, asset } of edges) {
    const a = rootOf(`item ${item}`)
    const b = rootOf(`asset ${asset}`)
    if (a !== b) parents.set(a, b)
  }
  const clusters = new Map<string, Edge[]>()
  for (const edge of edges) {
    const root = rootOf(`item ${edge.item}`)
    const cluster = clusters.get(root)
    if (cluster === undefined) clusters.set(root, [edge])
    else cluster.push(edge)
  }
  return [...clusters.values()]
}

function solveExactly(
  edges: readonly Edge[],
  items: readonly number[],
  assets: readonly number[],
): Map<number, number> {
  const rowOf = new Map(items.map((item, row) => [item, row]))
  const columnOf = new Map(assets.map((asset, column) => [asset, column]))
  // Scores are multiplied so that they outweigh every preference for low indexes; all sums stay exact in a double.
  const scoreWeight = items.length * (items.length + assets.length) + 1
  // One spare column per item: an item may stay without an asset.
  const costs = items.map(() => zeros(assets.length + items.length))
  const scores = items.map(() => zeros(assets.length))
  for (const { item, asset, score } of edges) {
    const row = rowOf.get(item) ?? 0
    const column = columnOf.get(asset) ?? 0
    const costRow = costs[row]
    const scoreRow = scores[row]
    if (costRow !== undefined) costRow[column] = row + column - score * scoreWeight
    if (scoreRow !== undefined) scoreRow[column] = score
  }
  const pairs = munkres(costs)
    .filter(([row, column]) => (scores[row]?.[column] ?? 0) > 0)
    .sort(([a], [b]) => a - b)
  return new Map(straightened(pairs, scores).map(([row, column]) => [items[row] ?? 0, assets[column] ?? 0]))
}

// Swaps crossed pairs wherever that costs nothing, so that equal items get equal assets in order: the sum of row and column, which
// the costs have, is the same crossed and straight.
function straightened(
  pairs: readonly [number, number][],
  scores: readonly (readonly number[])[],
): [number, number][] {
  const straight = pairs.map(([row, column]): [number, number] => [row, column])
  const score = (row: number, column: number): number => scores[row]?.[column] ?? 0
  for (const upper of straight) {
    for (const lower of straight) {
      const [row, column] = upper
      const [lowerRow, lowerColumn] = lower
      if (row >= lowerRow || column <= lowerColumn) continue
      const crossed = score(row, column) + score(lowerRow, lowerColumn)
      const swappedUpper = score(row, lowerColumn)
      const swappedLower = score(lowerRow, column)
      if (swappedUpper > 0 && swappedLower > 0 && swappedUpper + swappedLower === crossed) {
        upper[1] = lowerColumn
        lower[1] = column
      }
    }
  }
  return straight
}

function takeBestFirst(edges: readonly Edge[]): Map<number, number> {
  const assigned = new Map<number, number>()
  const taken = new Set<number>()
  for (const { item, asset } of edges.toSorted(
    (a, b) => b.score - a.score || a.asset - b.asset || a.item - b.item,
  )) {
    if (assigned.has(item) || taken.has(asset)) continue
    assigned.set(item, asset)
    taken.add(asset)
  }
  return assigned
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0)
}
