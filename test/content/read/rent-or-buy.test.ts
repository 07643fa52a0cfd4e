// Fetching the rest as it is paid for, held against both pure strategies: fetching only what is read, and fetching all.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boughtPart } from '../../../src/content/read/rent-or-buy.ts'

const pieces = 64
/** Rounding error of adding up fractions. */
const rounding = 1e-6

interface Outcome {
  readonly waitedMs: number
  /** Part of the document that was fetched without being read. */
  readonly boughtPart: number
}

/**
 * A reader of `reads` (each the piece it falls into) of a document far away: a miss takes `latencyMs`, all of the document
 * `priceMs`. Blocks that are bought come at the pace of the way while the reader waits.
 */
function simulate(reads: readonly number[], latencyMs: number, priceMs: number): Outcome {
  const here = new Set<number>()
  const onTheWay: number[] = []
  let waitedMs = 0
  let misses = 0
  let carriedMs = 0
  for (const piece of reads) {
    if (here.has(piece)) continue
    waitedMs += latencyMs
    misses++
    // Pieces asked for come while a reader waits; the first wait has none on the way.
    carriedMs = onTheWay.length === 0 ? 0 : carriedMs + latencyMs
    for (; onTheWay.length > 0 && carriedMs >= priceMs / pieces; carriedMs -= priceMs / pieces)
      here.add(onTheWay.shift() ?? 0)
    const account = { paidMs: waitedMs, misses, shortestMs: latencyMs }
    const until = Math.floor(boughtPart(account, priceMs) * pieces)
    for (let next = piece; here.size + onTheWay.length < until; next = (next + 1) % pieces)
      if (!here.has(next) && !onTheWay.includes(next)) onTheWay.push(next)
  }
  return { waitedMs, boughtPart: (here.size + onTheWay.length) / pieces }
}

const milliseconds = fc.double({ min: 0.1, max: 1_000, noNaN: true })
const anyReads = fc.array(fc.nat({ max: pieces - 1 }), { maxLength: 500 })

describe('renting or buying', () => {
  test('never waits longer than renting alone, nor twice the price and three misses', () => {
    fc.assert(
      fc.property(anyReads, milliseconds, milliseconds, (reads, latencyMs, priceMs) => {
        const { waitedMs } = simulate(reads, latencyMs, priceMs)
        expect(waitedMs).toBeLessThanOrEqual(reads.length * latencyMs + rounding)
        expect(waitedMs).toBeLessThanOrEqual(2 * priceMs + 4 * latencyMs + rounding)
      }),
    )
  })

  test('never fetches more than was paid for', () => {
    fc.assert(
      fc.property(anyReads, milliseconds, milliseconds, (reads, latencyMs, priceMs) => {
        const { waitedMs, boughtPart: part } = simulate(reads, latencyMs, priceMs)
        expect(part * priceMs).toBeLessThanOrEqual(waitedMs + rounding)
      }),
    )
  })

  test('buys nothing for a head and a tail', () => {
    expect(boughtPart({ paidMs: 1_000, misses: 2, shortestMs: 500 }, 100)).toBe(0)
  })

  test('buys from the first of it over a long way, which is idle while a reader waits', () => {
    expect(boughtPart({ paidMs: 60, misses: 3, shortestMs: 20 }, 600)).toBeCloseTo(0.1)
  })

  test('buys nothing from near until half of the price was paid: it would take the processors from the reader', () => {
    expect(boughtPart({ paidMs: 50, misses: 50, shortestMs: 1 }, 100)).toBe(0)
    expect(boughtPart({ paidMs: 75, misses: 75, shortestMs: 1 }, 100)).toBeCloseTo(0.5)
  })

  test('has bought everything when the rent has reached the price', () => {
    expect(boughtPart({ paidMs: 100, misses: 3, shortestMs: 20 }, 100)).toBe(1)
    expect(boughtPart({ paidMs: 99, misses: 20, shortestMs: 1 }, 100)).toBeLessThan(1)
  })
})
