// One file of the disk cache: consecutive blocks of one version at their own places, then a table with one entry per
// block. An entry is written after its bytes and checked when the file is opened, the bytes at every read, so that a torn,
// truncated or foreign block is absent. Bytes have a checksum for each 16 KiB: a small read checks no more than that.
//
//   0                                    dataBytes   (rounded up to 16)
//   ├── block 0 ──┬── block 1 ──┬─ … ─┤   ├─ entry 0 ─┬─ entry 1 ─┬─ … ─┤
//                                         entry: length · tag · crc32 of each piece (8) · crc32 of all these · 0, 4 bytes each
//
// Holes are absent blocks. Several processes may have the same file open: they write the same bytes to the same places.

import type { Disk, OpenFile } from '../../world/disk.ts'
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

/** The bytes `from` … `to`, counted from where a block begins. */
export interface BlockPart {
  readonly block: number
  readonly from: number
  /** May lie in a later block of the same segment. */
  readonly to: number
}

export interface StoredPart {
  readonly bytes: Uint8Array
  readonly tag: number
}

/** What a block takes in the table. */
export const entryBytes = 48
/** What has a checksum of its own (bytes). */
export const pieceBytes: number = 16 * 1024
/** Where in an entry the pieces' checksums are, and where its own is. */
const checksumsAt = 8
const closingAt = checksumsAt + 4 * (blockSizeBytes / pieceBytes)
/** The table begins at a multiple of this. */
const tableAlignment = 16
/** A table up to this long is written together with the last block, in one call. */
const smallTableBytes = 2048

/** A number that stands for an ETag on disk; 0 for none. */
export function tagOf(etag: string | undefined): number {
  return etag === undefined ? 0 : crc32(etag) || 1
}

export class Segment {
  readonly shape: SegmentShape
  readonly #disk: Disk
  readonly #handle: OpenFile
  readonly #table: Buffer
  /** The bytes are known to be right though no checksum is on disk yet. */
  #isTrusted = false

  private constructor(disk: Disk, handle: OpenFile, shape: SegmentShape, table: Buffer) {
    this.#disk = disk
    this.#handle = handle
    this.shape = shape
    this.#table = table
  }

  /** Opens the file, making it where missing if `create`. Throws the system's errors. */
  static async open(disk: Disk, file: string, shape: SegmentShape, create: boolean): Promise<Segment> {
    const { handle, isNew } = await (create ? createOrOpen(disk, file) : openExisting(disk, file))
    try {
      const table = Buffer.alloc(shape.blocks * entryBytes)
      if (!isNew) await handle.read(table, 0, table.length, tableOffset(shape))
      dropTornEntries(table)
      return new Segment(disk, handle, shape, table)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  has(block: number): boolean {
    return this.#isTrusted || this.#table.readUInt32LE(this.#entryAt(block)) === this.#lengthOf(block)
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
      blocks.push({ block, bytes: [bytes], tag: this.#tagOf(block) })
    }
    return blocks
  }

  /** True when all blocks of the part are here. */
  hasAll({ block, to }: BlockPart): boolean {
    const { firstBlock, blocks } = this.shape
    const end = block + Math.ceil(to / blockSizeBytes)
    if (block < firstBlock || end > firstBlock + blocks) return false
    for (let at = block; at < end; at++) if (!this.has(at)) return false
    return true
  }

  /**
   * A part of blocks that are here, read and checked with no more than the pieces it is in; undefined where they are
   * not as they were written, and then absent from now on, or came with several ETags. Throws the system's errors.
   */
  async readPart(part: BlockPart): Promise<StoredPart | undefined> {
    const { start, end } = this.#piecesOf(part)
    const buffer = Buffer.allocUnsafeSlow(end - start)
    const at = this.#offsetOf(part.block) + start
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, at)
    return this.#checked(part, start, buffer, bytesRead)
  }

  /** As `readPart`, on this thread, and into `room` where that is large enough. */
  readPartNow(part: BlockPart, room?: Uint8Array): StoredPart | undefined {
    const { start, end } = this.#piecesOf(part)
    const hasRoom = room !== undefined && room.length >= end - start
    const buffer = hasRoom ? room.subarray(0, end - start) : Buffer.allocUnsafeSlow(end - start)
    const at = this.#offsetOf(part.block) + start
    const bytesRead = this.#disk.readSync(this.#handle.fd, buffer, 0, buffer.length, at)
    return this.#checked(part, start, buffer, bytesRead)
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
      if (this.#table.readUInt32LE(at) === 0) continue
      this.#table.writeUInt32LE(0, at + 4)
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

  #piecesOf({ block, from, to }: BlockPart): { start: number; end: number } {
    const start = Math.floor(from / pieceBytes) * pieceBytes
    const dataEnd = this.shape.dataBytes - this.#offsetOf(block)
    return { start, end: Math.min(Math.ceil(to / pieceBytes) * pieceBytes, dataEnd) }
  }

  #checked(
    { block, from, to }: BlockPart,
    start: number,
    buffer: Uint8Array,
    bytesRead: number,
  ): StoredPart | undefined {
    const tag = this.#tagOf(block)
    for (let at = 0; at < buffer.length;) {
      const position = start + at
      const one = block + Math.floor(position / blockSizeBytes)
      const inBlock = position % blockSizeBytes
      const bytes = buffer.subarray(at, at + blockSizeBytes - inBlock)
      at += bytes.length
      if (at > bytesRead || !this.#isAsWritten(one, bytes, inBlock)) {
        this.drop(one)
        return undefined
      }
      if (this.#tagOf(one) !== tag) return undefined
    }
    return { bytes: buffer.subarray(from - start, to - start), tag }
  }

  /** Bytes of a block from `start` on, where a piece begins. */
  #isAsWritten(block: number, bytes: Uint8Array, start = 0): boolean {
    if (this.#isTrusted) return true
    if (!this.has(block)) return false
    let at = this.#entryAt(block) + checksumsAt + 4 * (start / pieceBytes)
    for (let from = 0; from < bytes.length; from += pieceBytes, at += 4) {
      if (this.#table.readUInt32LE(at) !== crc32(bytes.subarray(from, from + pieceBytes))) return false
    }
    return true
  }

  #tagOf(block: number): number {
    return this.#table.readUInt32LE(this.#entryAt(block) + 4)
  }

  #writeEntry(table: Buffer, { block, bytes, tag }: StoredBlock): void {
    const at = this.#entryAt(block)
    table.writeUInt32LE(this.#lengthOf(block), at)
    table.writeUInt32LE(tag, at + 4)
    let checksumAt = at + checksumsAt
    for (const checksum of checksumsOf(bytes)) {
      table.writeUInt32LE(checksum, checksumAt)
      checksumAt += 4
    }
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
  return Math.ceil(shape.dataBytes / tableAlignment) * tableAlignment
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

/** An entry that is not whole is none. */
function dropTornEntries(table: Buffer): void {
  for (let at = 0; at < table.length; at += entryBytes) {
    const isWhole = table.readUInt32LE(at + closingAt) === crc32(table.subarray(at, at + closingAt))
    if (!isWhole) table.fill(0, at, at + entryBytes)
  }
}

function closeEntry(table: Buffer, at: number): void {
  table.writeUInt32LE(crc32(table.subarray(at, at + closingAt)), at + closingAt)
}

interface Opened {
  readonly handle: OpenFile
  readonly isNew: boolean
}

/** Two processes may make the same file at once: neither may truncate what the other wrote. */
async function createOrOpen(disk: Disk, file: string): Promise<Opened> {
  try {
    return { handle: await disk.open(file, 'wx+', 0o600), isNew: true }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return openExisting(disk, file)
  }
}

async function openExisting(disk: Disk, file: string): Promise<Opened> {
  return { handle: await disk.open(file, 'r+'), isNew: false }
}
