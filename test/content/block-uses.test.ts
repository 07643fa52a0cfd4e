import { expect, test } from 'vitest'
import { Borrowed, borrow, endUse, keep, use } from '../../src/content/block-uses.ts'
import type { Block } from '../../src/content/block.ts'
import { pieceBytes, takeMemory } from '../../src/world/block-memory.ts'

/** A block that was received, in memory that no test uses again. */
function received(): { block: Block; memory: ArrayBufferLike } {
  const bytes = takeMemory(pieceBytes)
  const block = [bytes]
  use(block)
  return { block, memory: bytes.buffer }
}

const isFree = (memory: ArrayBufferLike): boolean => takeMemory(pieceBytes).buffer === memory

test('the memory of a block is taken again after its last use, and not before', () => {
  const { block, memory } = received()
  use(block)
  const borrowed = new Borrowed()
  borrow(block, borrowed)
  borrow(block, borrowed)
  endUse(block)
  endUse(block)
  expect(isFree(memory)).toBe(false)
  borrowed.end()
  expect(isFree(memory)).toBe(true)
  // It is another's now.
  borrowed.end()
  endUse(block)
  expect(isFree(memory)).toBe(false)
})

test('the memory of a block that is kept, or in pieces, or less than a piece, is never taken again', () => {
  const { block, memory } = received()
  keep(block)
  endUse(block)
  expect(isFree(memory)).toBe(false)
  const other = received()
  borrow(other.block, undefined)
  endUse(other.block)
  expect(isFree(other.memory)).toBe(false)
  const bytes = takeMemory(pieceBytes)
  for (const given of [
    [bytes.subarray(0, 10), bytes.subarray(10)],
    [bytes.subarray(0, 10)],
    [takeMemory(10)],
  ]) {
    use(given)
    endUse(given)
  }
  expect(isFree(bytes.buffer)).toBe(false)
  const foreign = [new Uint8Array(pieceBytes)]
  use(foreign)
  endUse(foreign)
  expect(isFree(foreign[0]?.buffer ?? memory)).toBe(false)
})
