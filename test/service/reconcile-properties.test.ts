import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Asset, indexAssets } from '../../src/service/reconcile/asset-index.ts'
import { type Edge, assign } from '../../src/service/reconcile/assignment.ts'
import { reconcile } from '../../src/service/reconcile/reconcile.ts'

// Few words and few keys, so that values meet, tie and compete.
const value = fc.oneof(
  fc.constantFrom(
    'Acme',
    'ACME GmbH',
    'Globex',
    'INV-001',
    'INV-002',
    '1.234,50',
    '2024-01-31',
    '31.1.2024',
    '',
    '—',
  ),
  fc.constantFrom(1, 2, 1234.5, true, null),
  fc.string({ maxLength: 8 }),
)
const key = fc.constantFrom('id', 'Vendor', 'total', 'asset_name', 'unknown', '__proto__x')
const row = fc.dictionary(key, value, { maxKeys: 4 })
const assets: fc.Arbitrary<Asset[]> = fc
  .array(fc.record({ name: fc.constantFrom('Acme', 'Globex', 'x'), rowData: row }), { maxLength: 12 })
  .map((rows) => rows.map((asset, at) => ({ ...asset, id: `asset-${at}` })))
const data = fc.dictionary(key, fc.oneof(value, fc.array(fc.oneof(value, row), { maxLength: 6 }), row), {
  maxKeys: 4,
})
const files = fc.array(
  fc.record({ name: fc.constantFrom('a.csv', 'id'), rows: fc.array(row, { maxLength: 4 }) }),
  { maxLength: 2 },
)

describe('every reconciliation', () => {
  test('answers the same twice, from a used index as from a fresh one', () => {
    fc.assert(
      fc.property(assets, data, files, (assets, data, files) => {
        const index = indexAssets(assets)
        const first = reconcile({ data, files }, index)
        expect(reconcile({ data, files }, index)).toEqual(first)
        expect(reconcile({ data, files }, indexAssets(assets))).toEqual(first)
      }),
    )
  })

  test('answers from an index that grew, and was used meanwhile, as from one made at once', () => {
    fc.assert(
      fc.property(assets, data, files, fc.nat(12), (assets, data, files, split) => {
        const index = indexAssets(assets.slice(0, split))
        reconcile({ data, files }, index)
        index.add(assets.slice(split))
        expect(reconcile({ data, files }, index)).toEqual(reconcile({ data, files }, indexAssets(assets)))
      }),
    )
  })

  test('keeps the shape of the input', () => {
    fc.assert(
      fc.property(assets, data, (assets, data) => {
        const answer = reconcile({ data, files: [] }, indexAssets(assets)).data
        expect(shapeOf(answer)).toEqual(shapeOf(data))
      }),
    )
  })

  test('gives an asset to one item of a list at most, and only assets of the table', () => {
    fc.assert(
      fc.property(assets, fc.array(value, { maxLength: 8 }), key, (assets, values, key) => {
        const { matches } = reconcile({ data: { [key]: values }, files: [] }, indexAssets(assets))
        expect(matches).toHaveLength(values.length)
        const given = matches.filter((match) => match !== undefined)
        expect(new Set(given).size).toBe(given.length)
        for (const id of given) expect(assets.map((asset) => asset.id)).toContain(id)
      }),
    )
  })

  test('answers only what the matched asset holds', () => {
    fc.assert(
      fc.property(assets, fc.array(value, { maxLength: 8 }), (assets, values) => {
        const { data, matches } = reconcile({ data: { Vendor: values }, files: [] }, indexAssets(assets))
        for (const [at, answer] of (data['Vendor'] as unknown[]).entries()) {
          const asset = assets.find(({ id }) => id === matches[at])
          // Of a table without vendors it is a value of the field that the input's values are found in.
          const held = [...Object.values(asset?.rowData ?? {}), asset?.name]
          if (answer !== null) expect(held).toContain(answer)
        }
      }),
    )
  })
})

describe('an assignment', () => {
  const edges = fc.uniqueArray(
    fc.record({ item: fc.nat(4), asset: fc.nat(4), score: fc.integer({ min: 1, max: 20 }) }),
    {
      selector: ({ item, asset }) => item * 5 + asset,
      maxLength: 16,
    },
  )

  test('has the greatest sum of scores there is', () => {
    fc.assert(
      fc.property(edges, (edges) => {
        expect(sumOf(assign(edges), edges)).toBe(bestSum(edges, new Set(), 0))
      }),
      { numRuns: 500 },
    )
  })

  test('does not depend on the order of the edges', () => {
    fc.assert(
      fc.property(
        edges.chain((edges) =>
          fc.tuple(fc.constant(edges), fc.shuffledSubarray(edges, { minLength: edges.length })),
        ),
        ([edges, shuffled]) => {
          expect(pairsOf(assign(shuffled))).toEqual(pairsOf(assign(edges)))
        },
      ),
    )
  })

  test('gives equal items equal assets in order', () => {
    const edges = [2, 0, 1].flatMap((item) => [1, 2, 0, 3].map((asset) => ({ item, asset, score: 7 })))
    expect(pairsOf(assign(edges))).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ])
  })

  test('of thousands of items that compete for the same assets gives each at most one', () => {
    const edges = Array.from({ length: 3000 }, (_, item) =>
      Array.from({ length: 10 }, (_, near) => ({
        item,
        asset: (item + near * 37) % 2000,
        score: 1 + ((item * near) % 97),
      })),
    ).flat()
    const assigned = assign(edges)
    expect(new Set(assigned.values()).size).toBe(assigned.size)
    expect(assigned.size).toBeGreaterThan(1500)
  })
})

/** Keys and lengths, with a dot for every value; a value that is a list or object in the asset is a value here too. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return '.'
  return Object.entries(value).map(([key, member]) => [key, shapeOf(member)])
}

function pairsOf(assigned: ReadonlyMap<number, number>): [number, number][] {
  return [...assigned].sort(([a], [b]) => a - b)
}

function sumOf(assigned: ReadonlyMap<number, number>, edges: readonly Edge[]): number {
  let sum = 0
  for (const { item, asset, score } of edges) if (assigned.get(item) === asset) sum += score
  return sum
}

function bestSum(edges: readonly Edge[], taken: ReadonlySet<number>, item: number): number {
  if (item > 4) return 0
  let best = bestSum(edges, taken, item + 1)
  for (const edge of edges) {
    if (edge.item !== item || taken.has(edge.asset)) continue
    best = Math.max(best, edge.score + bestSum(edges, new Set([...taken, edge.asset]), item + 1))
  }
  return best
}
