// The table at the end of a segment: what is here of each block, and checksums of its bytes. An entry that is not whole is none.
//
//   entry: length · tag · crc32 of each piece (8) · crc32 of all these · 0, 4 bytes each

import { crc32 } from 'node:zlib'
import type { Block } from '../block.ts'
import { blockLength, blockSizeBytes } from '../extent.ts'

/** Which blocks a segment holds, by their numbers in the document. */
export interface SegmentShape {
  readonly firstBlock: number
  readonly blocks: number
  readonly dataBytes: number
}

/** A block on disk. `tag` stands for the ETag it came with; 0 = none. */
export interface StoredBlock {
  readonly block: number
  readonly bytes: Block
  readonly tag: number
  /** A reader in order took it as it came, and the drive's pages have it: it is not looked for on disk soon. */
  readonly isPassing?: boolean
}

/** Bytes that a block takes in the table. */
export const entryBytes = 48
/** Bytes of a piece, which has a checksum of its own. */
export const pieceBytes: number = 16 * 1024
/** Where in an entry the pieces' checksums are, and where its own is. */
const checksumsAt = 8
const closingAt = checksumsAt + 4 * (blockSizeBytes / pieceBytes)

/** A number that stands for an ETag on disk; 0 for none. */
export function tagOf(etag: string | undefined): number {
  return etag === undefined ? 0 : crc32(etag) || 1
}

export class SegmentTable {
  readonly shape: SegmentShape
  /** As it is on disk. */
  readonly bytes: Buffer

  constructor(shape: SegmentShape, bytes: Buffer) {
    this.shape = shape
    this.bytes = bytes
  }

  /** It was read from disk. */
  dropTornEntries(): void {
    for (let at = 0; at < this.bytes.length; at += entryBytes) {
      const closing = crc32(this.bytes.subarray(at, at + closingAt))
      if (this.bytes.readUInt32LE(at + closingAt) !== closing) this.bytes.fill(0, at, at + entryBytes)
    }
  }

  /** One to be written, before it is taken over. */
  copy(): SegmentTable {
    return new SegmentTable(this.shape, Buffer.from(this.bytes))
  }

  /** Takes the entries of these blocks over, and no others: those may have changed meanwhile. */
  takeOver(table: SegmentTable, first: number, last: number): void {
    const from = this.entryAt(first)
    table.bytes.copy(this.bytes, from, from, this.entryAt(last) + entryBytes)
  }

  has(block: number): boolean {
    return this.bytes.readUInt32LE(this.entryAt(block)) === this.lengthOf(block)
  }

  tagOf(block: number): number {
    return this.bytes.readUInt32LE(this.entryAt(block) + 4)
  }

  /** True if these are a block's bytes from `start` on, where a piece begins. */
  isAsWritten(block: number, bytes: Uint8Array, start = 0): boolean {
    if (!this.has(block)) return false
    let at = this.entryAt(block) + checksumsAt + 4 * (start / pieceBytes)
    for (let from = 0; from < bytes.length; from += pieceBytes, at += 4) {
      if (this.bytes.readUInt32LE(at) !== crc32(bytes.subarray(from, from + pieceBytes))) return false
    }
    return true
  }

  set({ block, bytes, tag }: StoredBlock): void {
    const at = this.entryAt(block)
    this.bytes.writeUInt32LE(this.lengthOf(block), at)
    this.bytes.writeUInt32LE(tag, at + 4)
    let checksumAt = at + checksumsAt
    for (const checksum of checksumsOf(bytes)) {
      this.bytes.writeUInt32LE(checksum, checksumAt)
      checksumAt += 4
    }
    this.#close(at)
  }

  drop(block: number): void {
    this.bytes.fill(0, this.entryAt(block), this.entryAt(block) + entryBytes)
  }

  /** Forgets which ETag the blocks came with. */
  untag(): void {
    for (let at = 0; at < this.bytes.length; at += entryBytes) {
      if (this.bytes.readUInt32LE(at) === 0) continue
      this.bytes.writeUInt32LE(0, at + 4)
      this.#close(at)
    }
  }

  entryAt(block: number): number {
    return (block - this.shape.firstBlock) * entryBytes
  }

  lengthOf(block: number): number {
    return blockLength(block - this.shape.firstBlock, this.shape.dataBytes)
  }

  #close(at: number): void {
    this.bytes.writeUInt32LE(crc32(this.bytes.subarray(at, at + closingAt)), at + closingAt)
  }
}

/** One for each piece of the block, however its bytes came. */
function* checksumsOf(bytes: Block): Iterable<number> {
  let checksum = 0
  let left = pieceBytes
  for (const chunk of bytes) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + left)
      checksum = crc32(part, checksum)
      at += part.length
      left -= part.length
      if (left > 0) continue
      yield checksum
      checksum = 0
      left = pieceBytes
    }
  }
  if (left < pieceBytes) yield checksum
}
