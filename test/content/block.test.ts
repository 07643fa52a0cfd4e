import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BlockAssembler, appendSlice } from '../../src/content/block.ts'
import type { Block } from '../../src/content/block.ts'
import { blockSizeBytes, extentOf } from '../../src/content/extent.ts'
import { patternedBytes } from '../support/bytes.ts'

const document = patternedBytes(5 * blockSizeBytes + 777, 'block')

/** Cuts `bytes` at the given places. */
function chunksOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

test('a stream in chunks of any size becomes the blocks of its run', () => {
  fc.assert(
    fc.property(
      fc.nat(5),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.nat(), { maxLength: 100 }),
      (first, length, cuts) => {
        const run = { first, end: Math.min(6, first + length) }
        const { offset, length: bytes } = extentOf(run, document.length)
        const given: [number, Buffer][] = []
        const assembler = new BlockAssembler(run, document.length, (block, pieces) => {
          given.push([block, Buffer.concat(pieces)])
        })
        for (const chunk of chunksOf(document.subarray(offset, offset + bytes), cuts)) {
          expect(assembler.isComplete).toBe(false)
          const before = assembler.position
          assembler.push(chunk)
          expect(assembler.position).toBe(before + chunk.length)
        }
        expect(assembler.isComplete).toBe(true)
        expect(given.map(([block]) => block)).toEqual(
          Array.from({ length: run.end - run.first }, (_, index) => run.first + index),
        )
        const joined = Buffer.concat(given.map(([, bytes]) => bytes))
        expect(joined.equals(document.subarray(offset, offset + bytes))).toBe(true)
      },
    ),
  )
})

test('bytes beyond the run are ignored', () => {
  const given: number[] = []
  const assembler = new BlockAssembler({ first: 0, end: 1 }, document.length, (block) => given.push(block))
  assembler.push(document)
  assembler.push(document)
  expect(given).toEqual([0])
})

test('a block in large pieces keeps them as they came, without a copy; those that lie together are one', () => {
  let block: Block = []
  const take = (): BlockAssembler =>
    new BlockAssembler({ first: 0, end: 1 }, document.length, (_, pieces) => {
      block = pieces
    })
  const apart = take()
  const other = Buffer.from(document)
  apart.push(document.subarray(0, 65_536))
  apart.push(other.subarray(65_536, 140_000))
  expect(block.map((piece) => piece.length)).toEqual([65_536, 65_536])
  expect(block.map((piece) => piece.buffer)).toEqual([document.buffer, other.buffer])
  const together = take()
  together.push(document.subarray(0, 65_536))
  together.push(document.subarray(65_536, 140_000))
  expect(block).toEqual([new Uint8Array(document.subarray(0, blockSizeBytes))])
  expect(block[0]?.buffer).toBe(document.buffer)
})

test('a slice of a block in pieces is the bytes at that place', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(), { maxLength: 8 }),
      fc.nat(blockSizeBytes),
      fc.nat(blockSizeBytes),
      (cuts, a, b) => {
        const bytes = document.subarray(0, blockSizeBytes)
        const out: Uint8Array[] = []
        appendSlice(out, chunksOf(bytes, cuts), Math.min(a, b), Math.max(a, b))
        expect(Buffer.concat(out).equals(bytes.subarray(Math.min(a, b), Math.max(a, b)))).toBe(true)
      },
    ),
  )
})
