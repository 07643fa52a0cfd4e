// One block's bytes as they came from the network: views of the socket's own buffers, never joined by copying
// unless they came in crumbs.

import { blockLength, blockSizeBytes } from './extent.ts'
import type { BlockRun } from './extent.ts'

/** The bytes of one block, in order, in as many pieces as they came. */
export type Block = readonly Uint8Array[]

/** Above this many pieces a block is joined: crumbs cost more in bookkeeping than a copy does. */
const maxPieces = 16

/** Appends views of the bytes `from` … `to` (offsets inside the block) to `out`. */
export function appendSlice(out: Uint8Array[], block: Block, from: number, to: number): void {
  let start = 0
  for (const piece of block) {
    const end = start + piece.length
    if (end > from && start < to) {
      const isWhole = from <= start && end <= to
      out.push(
        isWhole ? piece : piece.subarray(Math.max(0, from - start), Math.min(piece.length, to - start)),
      )
    }
    if (end >= to) return
    start = end
  }
}

/** Cuts a stream of chunks into the blocks of a run; each block is given out as soon as its last byte is here. */
export class BlockAssembler {
  readonly #end: number
  readonly #sizeBytes: number
  readonly #give: (block: number, bytes: Block) => void
  #block: number
  #pieces: Uint8Array[] = []
  #missing: number

  constructor(run: BlockRun, sizeBytes: number, give: (block: number, bytes: Block) => void) {
    this.#block = run.first
    this.#end = run.end
    this.#sizeBytes = sizeBytes
    this.#give = give
    this.#missing = blockLength(run.first, sizeBytes)
  }

  get isComplete(): boolean {
    return this.#block >= this.#end
  }

  /** Offset in the document of the next byte wanted. */
  get position(): number {
    const have = blockLength(this.#block, this.#sizeBytes) - this.#missing
    return Math.min(this.#block * blockSizeBytes + have, this.#sizeBytes)
  }

  /** Takes the next bytes of the stream; what lies beyond the run is ignored. */
  push(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.length > 0 && !this.isComplete) {
      const piece = rest.length <= this.#missing ? rest : rest.subarray(0, this.#missing)
      rest = rest.subarray(piece.length)
      this.#pieces.push(piece)
      this.#missing -= piece.length
      if (this.#missing === 0) this.#completeBlock()
    }
  }

  #completeBlock(): void {
    const pieces = this.#pieces.length > maxPieces ? [Buffer.concat(this.#pieces)] : this.#pieces
    this.#give(this.#block, pieces)
    this.#block++
    this.#pieces = []
    this.#missing = blockLength(this.#block, this.#sizeBytes)
  }
}
