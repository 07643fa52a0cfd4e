// The table at the end of a segment: the length of each block, or 0 if it is absent, and checksums of its bytes. A torn entry
// counts as absent.
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

/** A block on disk. `tag` stands for the ETag it came with, so that blocks of two contents are not mixed; 0 = none. */
export interface StoredBlock {
  readonly block: number
  readonly bytes: Block
  readonly tag: number
  /** A sequential reader got it already, and the drive's page cache has it: it will hardly be read from disk soon. */
  readonly isPassing?: boolean
}

/** Bytes of an entry. */
export const entryBytes = 48
/** Bytes of a piece, the unit of checksums. */
export const pieceBytes: number = 16 * 1024
/** Offsets in an entry of the pieces' checksums, and of its own. */
const checksumsAt = 8
const closingAt = checksumsAt + 4 * (blockSizeBytes / pieceBytes)

/** A number that stands for an ETag on disk; 0 for none. */
export function tagOf(etag: string | undefined): number {
  return etag === undefined ? 0 : crc32(etag) || 1
}

export class SegmentTable {
  readonly shape: SegmentShape
  /** The table's bytes, as they are on disk. */
  readonly bytes: Buffer

  constructor(shape: SegmentShape, bytes: Buffer) {
    this.shape = shape
    this.bytes = bytes
  }

  /** Clears the entries that are torn, after the table was read from disk. */
  dropTornEntries(): void {
    for (let at = 0; at < this.bytes.length; at += entryBytes) {
      const closing = crc32(this.bytes.subarray(at, at + closingAt))
      if (this.bytes.readUInt32LE(at + closingAt) !== closing) this.bytes.fill(0, at, at + entryBytes)
    }
  }

  /** A copy to be changed and written, before `takeOver` makes its entries valid here. */
  copy(): SegmentTable {
    return new SegmentTable(this.shape, Buffer.from(this.bytes))
  }

  /** Copies the entries of these blocks, and no others, since those may have changed meanwhile. */
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
  forgetEtags(): void {
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

/** Checksums of the block's pieces, however its bytes are split into chunks. */
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
