import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  blockCount,
  blockLength,
  blockSizeBytes,
  blocksOf,
  clip,
  extentOf,
  gapsOf,
  splitRun,
} from '../../src/content/extent.ts'

const size = fc.nat(5_000_000)
const extent = fc.record({ offset: fc.nat(6_000_000), length: fc.nat(1_000_000) })

describe('extent', () => {
  test('clipping keeps what lies inside the document', () => {
    expect(clip({ offset: 5, length: 10 }, 8)).toEqual({ offset: 5, length: 3 })
    expect(clip({ offset: 9, length: 10 }, 8)).toEqual({ offset: 8, length: 0 })
    expect(clip({ offset: 0, length: 8 }, 8)).toEqual({ offset: 0, length: 8 })
  })

  test('an extent touches the blocks of its first and its last byte', () => {
    expect(blocksOf({ offset: 0, length: 0 })).toEqual({ first: 0, end: 0 })
    expect(blocksOf({ offset: blockSizeBytes - 1, length: 1 })).toEqual({ first: 0, end: 1 })
    expect(blocksOf({ offset: blockSizeBytes - 1, length: 2 })).toEqual({ first: 0, end: 2 })
    expect(blocksOf({ offset: blockSizeBytes, length: blockSizeBytes })).toEqual({ first: 1, end: 2 })
  })

  test('the blocks of a document are as long as the document', () => {
    fc.assert(
      fc.property(size, (size) => {
        let sum = 0
        for (let block = 0; block < blockCount(size); block++) sum += blockLength(block, size)
        expect(sum).toBe(size)
      }),
    )
  })

  test('the blocks of a clipped extent contain it', () => {
    fc.assert(
      fc.property(extent, size, (extent, size) => {
        const clipped = clip(extent, size)
        fc.pre(clipped.length > 0)
        const outer = extentOf(blocksOf(clipped), size)
        expect(outer.offset).toBeLessThanOrEqual(clipped.offset)
        expect(outer.offset + outer.length).toBeGreaterThanOrEqual(clipped.offset + clipped.length)
      }),
    )
  })

  test('the parts of a run are the run', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.integer({ min: 1, max: 9 }), (first, length, most) => {
        const blocks = splitRun({ first, end: first + length }, most).flatMap((part) =>
          Array.from({ length: part.end - part.first }, (_, index) => part.first + index),
        )
        expect(blocks).toEqual(Array.from({ length }, (_, index) => first + index))
      }),
    )
  })

  test('gaps are the uncovered blocks, joined where they touch', () => {
    const isCovered = (block: number): boolean => [2, 3, 7].includes(block)
    expect(gapsOf({ first: 0, end: 9 }, isCovered)).toEqual([
      { first: 0, end: 2 },
      { first: 4, end: 7 },
      { first: 8, end: 9 },
    ])
    expect(gapsOf({ first: 2, end: 4 }, isCovered)).toEqual([])
  })
})
