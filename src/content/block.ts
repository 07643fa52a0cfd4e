// The bytes of one block as received: views of the socket's own buffers, which are copied together only if there are many
// small ones.

import { blockLength, blockSizeBytes } from './extent.ts'
import type { BlockRun } from './extent.ts'

/** The bytes of one block, in order, in as many pieces as were received. */
export type Block = readonly Uint8Array[]

/** A block of more pieces is copied into one buffer: many small pieces cost more in bookkeeping than a copy does. */
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

/** Cuts a stream of chunks into the blocks of a run, and calls `onBlock` with each as soon as its last byte is received. */
export class BlockAssembler {
  readonly #end: number
  readonly #sizeBytes: number
  readonly #onBlock: (block: number, bytes: Block) => void
  /** Number of the block that is being received. */
  #block: number
  #pieces: Uint8Array[] = []
  /** Bytes of that block which are still to come. */
  #missingBytes: number

  constructor(run: BlockRun, sizeBytes: number, onBlock: (block: number, bytes: Block) => void) {
    this.#block = run.first
    this.#end = run.end
    this.#sizeBytes = sizeBytes
    this.#onBlock = onBlock
    this.#missingBytes = blockLength(run.first, sizeBytes)
  }

  get isComplete(): boolean {
    return this.#block >= this.#end
  }

  /** Offset in the document of the next byte expected. */
  get position(): number {
    const receivedBytes = blockLength(this.#block, this.#sizeBytes) - this.#missingBytes
    return Math.min(this.#block * blockSizeBytes + receivedBytes, this.#sizeBytes)
  }

  /** Takes the next bytes of the stream; what lies beyond the run is ignored. */
  push(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.length > 0 && !this.isComplete) {
      const piece = rest.length <= this.#missingBytes ? rest : rest.subarray(0, this.#missingBytes)
      rest = rest.subarray(piece.length)
      this.#add(piece)
      this.#missingBytes -= piece.length
      if (this.#missingBytes === 0) this.#completeBlock()
    }
  }

  /** Adds a piece, to the one before if it follows that in memory, as in what a download receives. */
  #add(piece: Uint8Array): void {
    const last = this.#pieces.at(-1)
    const isNext = last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset
    if (!isNext) return void this.#pieces.push(piece)
    this.#pieces[this.#pieces.length - 1] = new Uint8Array(
      piece.buffer,
      last.byteOffset,
      last.length + piece.length,
    )
  }

  #completeBlock(): void {
    const pieces = this.#pieces.length > maxPieces ? [Buffer.concat(this.#pieces)] : this.#pieces
    this.#onBlock(this.#block, pieces)
    this.#block++
    this.#pieces = []
    this.#missingBytes = blockLength(this.#block, this.#sizeBytes)
  }
}
