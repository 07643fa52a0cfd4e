// The uses of a received block's memory: in the cache, on its way to the disk, by a read. When the last one ends, the memory is
// given back. A use that does not tell its end (`keep`) leaves the memory to the garbage collector, for good.

import { giveMemoryBack, isWholePiece, keepMemory } from '../world/block-memory.ts'
import type { Block } from './block.ts'

/** Number of uses, by the memory. */
const usesOf = new WeakMap<ArrayBufferLike, number>()

/** The piece that a block fills: others are not counted. */
function pieceOf(block: Block): Uint8Array | undefined {
  const [only] = block
  return block.length === 1 && only !== undefined && isWholePiece(only) ? only : undefined
}

/** Counts a use. */
export function use(block: Block): void {
  const piece = pieceOf(block)
  if (piece !== undefined) usesOf.set(piece.buffer, (usesOf.get(piece.buffer) ?? 0) + 1)
}

/** Ends a use that was counted. */
export function endUse(block: Block): void {
  const piece = pieceOf(block)
  if (piece === undefined) return
  const uses = usesOf.get(piece.buffer)
  if (uses === undefined) return
  usesOf.set(piece.buffer, uses - 1)
  if (uses > 1) return
  usesOf.delete(piece.buffer)
  giveMemoryBack(piece)
}

/** Counts a use without an end. */
export function keep(block: Block): void {
  for (const piece of block) keepMemory(piece)
}

/** The blocks that one read returns views of, until it has used them. */
export class Borrowed {
  readonly #blocks: Block[] = []

  add(block: Block): void {
    use(block)
    this.#blocks.push(block)
  }

  /** The views will not be looked at any more. */
  end(): void {
    for (const block of this.#blocks.splice(0)) endUse(block)
  }
}

/** Counts a read's use of a block. */
export function borrow(block: Block, borrowed: Borrowed | undefined): void {
  if (borrowed === undefined) keep(block)
  else borrowed.add(block)
}
