// One file of the disk cache: consecutive blocks of one version at their own places, then a table with one entry per
// block. An entry is written after its bytes and checked at every read, so a torn, truncated or foreign block is absent.
//
//   0                                    dataBytes   (rounded up to 16)
//   ├── block 0 ──┬── block 1 ──┬─ … ─┤   ├─ entry 0 ─┬─ entry 1 ─┬─ … ─┤
//                                         entry: length · crc32 of the bytes · tag · crc32 of these three, 4 bytes each
//
// Holes are absent blocks. Several processes may have the same file open: they write the same bytes to the same places.

import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Block } from '../block.ts'
import { blockLength, blockSizeBytes } from '../extent.ts'
import type { BlockRun } from '../extent.ts'

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
}

/** What a block takes in the table. */
export const entryBytes = 16
/** A table up to this long is written together with the last block, in one call. */
const smallTableBytes = 1024

/** A number that stands for an ETag on disk; 0 for none. */
export function tagOf(etag: string | undefined): number {
  return etag === undefined ? 0 : crc32(etag) || 1
}

export class Segment {
  readonly shape: SegmentShape
  readonly #handle: FileHandle
  readonly #table: Buffer
  /** The bytes are known to be right though no checksum is on disk yet. */
  #isTrusted = false

  private constructor(handle: FileHandle, shape: SegmentShape, table: Buffer) {
    this.#handle = handle
    this.shape = shape
    this.#table = table
  }

  /** Opens the file, making it where missing if `create`. Throws the system's errors. */
  static async open(file: string, shape: SegmentShape, create: boolean): Promise<Segment> {
    const { handle, isNew } = await (create ? createOrOpen(file) : openExisting(file))
    try {
      const table = Buffer.alloc(shape.blocks * entryBytes)
      if (!isNew) await handle.read(table, 0, table.length, tableOffset(shape))
      return new Segment(handle, shape, table)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  has(block: number): boolean {
    const length = this.#lengthOf(block)
    if (this.#isTrusted) return true
    const at = this.#entryAt(block)
    return this.#table.readUInt32LE(at) === length && isWholeEntry(this.#table, at)
  }

  /** Bytes of all blocks that are here. */
  get bytesHere(): number {
    const { firstBlock, blocks } = this.shape
    let bytes = 0
    for (let block = firstBlock; block < firstBlock + blocks; block++)
      if (this.has(block)) bytes += this.#lengthOf(block)
    return bytes
  }

  /** The blocks from the run's first one on, up to one that is not as it was written: that one is absent from now on. */
  async read(run: BlockRun): Promise<StoredBlock[]> {
    const offset = this.#offsetOf(run.first)
    const end = Math.min(this.#offsetOf(run.end), this.shape.dataBytes)
    const buffer = Buffer.allocUnsafeSlow(end - offset)
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, offset)
    const blocks: StoredBlock[] = []
    for (let block = run.first; block < run.end; block++) {
      const at = this.#offsetOf(block) - offset
      const bytes = buffer.subarray(at, at + this.#lengthOf(block))
      if (at + bytes.length > bytesRead || !this.#isAsWritten(block, bytes)) {
        this.drop(block)
        break
      }
      blocks.push({ block, bytes: [bytes], tag: this.#table.readUInt32LE(this.#entryAt(block) + 8) })
    }
    return blocks
  }

  /** Stores consecutive blocks. Throws the system's errors; nothing half-written is ever found afterwards. */
  async write(blocks: readonly StoredBlock[]): Promise<void> {
    const first = blocks[0]?.block
    const last = blocks.at(-1)?.block
    if (first === undefined || last === undefined) return
    const table = Buffer.from(this.#table)
    for (const stored of blocks) this.#writeEntry(table, stored)
    const pieces = blocks.flatMap((stored) => stored.bytes)
    const isUpToTable = last === this.shape.firstBlock + this.shape.blocks - 1
    if (isUpToTable && table.length <= smallTableBytes) {
      const gap = tableOffset(this.shape) - this.shape.dataBytes
      await this.#writeAll([...pieces, Buffer.alloc(gap), table], this.#offsetOf(first))
    } else {
      await this.#writeAll(pieces, this.#offsetOf(first))
      const from = this.#entryAt(first)
      const entries = table.subarray(from, this.#entryAt(last) + entryBytes)
      await this.#writeAll([entries], tableOffset(this.shape) + from)
    }
    // Entries of other runs may have been written meanwhile: only ours are taken over.
    table.copy(this.#table, this.#entryAt(first), this.#entryAt(first), this.#entryAt(last) + entryBytes)
  }

  /** From now on the block is absent. */
  drop(block: number): void {
    this.#isTrusted = false
    this.#table.fill(0, this.#entryAt(block), this.#entryAt(block) + entryBytes)
  }

  /** Every byte of the file is known to be right: it was ours before it came here. `seal` makes that outlive this run. */
  trust(): void {
    this.#isTrusted = true
  }

  /** Computes and writes the whole table of a trusted segment, reading it once, in small steps. */
  async seal(): Promise<void> {
    const { firstBlock, blocks, dataBytes } = this.shape
    const buffer = Buffer.allocUnsafeSlow(Math.min(8 * blockSizeBytes, dataBytes))
    for (let offset = 0; offset < dataBytes && this.#isTrusted; offset += buffer.length) {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, offset)
      if (bytesRead < Math.min(buffer.length, dataBytes - offset)) return
      for (let at = 0; at < bytesRead; at += blockSizeBytes) {
        const block = firstBlock + (offset + at) / blockSizeBytes
        const bytes = buffer.subarray(at, Math.min(at + blockSizeBytes, bytesRead))
        this.#writeEntry(this.#table, { block, bytes: [bytes], tag: 0 })
      }
    }
    if (!this.#isTrusted || blocks === 0) return
    await this.#writeAll([this.#table], tableOffset(this.shape))
    this.#isTrusted = false
  }

  /** Forgets which ETag the blocks came with: the same bytes have another one now. */
  async untag(): Promise<void> {
    for (let at = 0; at < this.#table.length; at += entryBytes) {
      if (!isWholeEntry(this.#table, at)) continue
      this.#table.writeUInt32LE(0, at + 8)
      closeEntry(this.#table, at)
    }
    await this.#writeAll([this.#table], tableOffset(this.shape))
  }

  /** Waits for reads and writes under way. */
  close(): Promise<void> {
    return this.#handle.close()
  }

  /** Marks the file as used now, for the next run's order of eviction. */
  async touch(now: Date): Promise<void> {
    await this.#handle.utimes(now, now)
  }

  #isAsWritten(block: number, bytes: Uint8Array): boolean {
    if (this.#isTrusted) return true
    return this.has(block) && this.#table.readUInt32LE(this.#entryAt(block) + 4) === crc32(bytes)
  }

  #writeEntry(table: Buffer, { block, bytes, tag }: StoredBlock): void {
    const at = this.#entryAt(block)
    let checksum = 0
    for (const piece of bytes) checksum = crc32(piece, checksum)
    table.writeUInt32LE(this.#lengthOf(block), at)
    table.writeUInt32LE(checksum, at + 4)
    table.writeUInt32LE(tag, at + 8)
    closeEntry(table, at)
  }

  async #writeAll(pieces: readonly Uint8Array[], position: number): Promise<void> {
    let length = 0
    for (const piece of pieces) length += piece.length
    const { bytesWritten } = await this.#handle.writev(pieces, position)
    if (bytesWritten < length) {
      throw Object.assign(new Error('ENOSPC: the disk took only a part'), { code: 'ENOSPC' })
    }
  }

  #entryAt(block: number): number {
    return (block - this.shape.firstBlock) * entryBytes
  }

  #offsetOf(block: number): number {
    return (block - this.shape.firstBlock) * blockSizeBytes
  }

  #lengthOf(block: number): number {
    return blockLength(block - this.shape.firstBlock, this.shape.dataBytes)
  }
}

function tableOffset(shape: SegmentShape): number {
  return Math.ceil(shape.dataBytes / entryBytes) * entryBytes
}

function isWholeEntry(table: Buffer, at: number): boolean {
  return table.readUInt32LE(at) > 0 && table.readUInt32LE(at + 12) === crc32(table.subarray(at, at + 12))
}

function closeEntry(table: Buffer, at: number): void {
  table.writeUInt32LE(crc32(table.subarray(at, at + 12)), at + 12)
}

interface Opened {
  readonly handle: FileHandle
  readonly isNew: boolean
}

/** Two processes may make the same file at once: neither may truncate what the other wrote. */
async function createOrOpen(file: string): Promise<Opened> {
  try {
    return { handle: await open(file, 'wx+', 0o600), isNew: true }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return openExisting(file)
  }
}

async function openExisting(file: string): Promise<Opened> {
  return { handle: await open(file, 'r+'), isNew: false }
}
