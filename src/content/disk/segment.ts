// A segment: one file of the disk cache, with consecutive blocks of one version at fixed places, then a table with one entry
// per block. An entry is written after its bytes and checked when the file is opened, the bytes at every read, so that a torn,
// truncated or foreign block counts as absent. There is a checksum for each 16 KiB, so that a small read checks no more.
//
//   0                                    dataBytes   (rounded up to 16)
//   ├── block 0 ──┬── block 1 ──┬─ … ─┤   ├─ entry 0 ─┬─ entry 1 ─┬─ … ─┤
//
// Holes are absent blocks. Several processes may have the same file open: they write the same bytes to the same places.

import type { Disk, OpenFile } from '../../world/disk.ts'
import { appendSlice } from '../block.ts'
import { blockSizeBytes } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { PastPages } from './past-pages.ts'
import { SegmentTable, entryBytes, pieceBytes } from './segment-table.ts'
import type { SegmentShape, StoredBlock } from './segment-table.ts'

/** The bytes `from` … `to`, counted from the start of a block. */
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

/** The table begins at a multiple of this. */
const tableAlignment = 16
/** A table up to this long is written together with the last block, in one call. */
const smallTableBytes = 2048

export class Segment {
  readonly shape: SegmentShape
  readonly #disk: Disk
  readonly #file: string
  readonly #handle: OpenFile
  readonly #table: SegmentTable
  /** All bytes are known to be right, though no checksums are on disk yet. */
  #isTrusted = false

  private constructor(disk: Disk, file: string, handle: OpenFile, table: SegmentTable) {
    this.#disk = disk
    this.#file = file
    this.#handle = handle
    this.shape = table.shape
    this.#table = table
  }

  /** Opens the file; creates it where missing if `create`. Throws the system's errors. */
  static async open(disk: Disk, file: string, shape: SegmentShape, create: boolean): Promise<Segment> {
    const { handle, isNew } = await (create ? createOrOpen(disk, file) : openExisting(disk, file))
    try {
      const table = new SegmentTable(shape, Buffer.alloc(shape.blocks * entryBytes))
      if (!isNew) await handle.read(table.bytes, 0, table.bytes.length, tableOffset(shape))
      table.dropTornEntries()
      return new Segment(disk, file, handle, table)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  get isTrusted(): boolean {
    return this.#isTrusted
  }

  has(block: number): boolean {
    return this.#isTrusted || this.#table.has(block)
  }

  /** Bytes of all blocks in the file. */
  get bytesHere(): number {
    const { firstBlock, blocks } = this.shape
    let bytes = 0
    for (let block = firstBlock; block < firstBlock + blocks; block++)
      if (this.has(block)) bytes += this.#table.lengthOf(block)
    return bytes
  }

  /** Reads the blocks of a run, up to one whose checksum is wrong, which is dropped. Throws the system's errors. */
  async read(run: BlockRun): Promise<StoredBlock[]> {
    const offset = this.#offsetOf(run.first)
    const end = Math.min(this.#offsetOf(run.end), this.shape.dataBytes)
    const buffer = Buffer.allocUnsafeSlow(end - offset)
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, offset)
    const blocks: StoredBlock[] = []
    for (let block = run.first; block < run.end; block++) {
      const at = this.#offsetOf(block) - offset
      const bytes = buffer.subarray(at, at + this.#table.lengthOf(block))
      if (at + bytes.length > bytesRead || !this.#isAsWritten(block, bytes)) {
        this.drop(block)
        break
      }
      blocks.push({ block, bytes: [bytes], tag: this.#table.tagOf(block) })
    }
    return blocks
  }

  /** True where all blocks of the part are in the file. */
  hasAll({ block, to }: BlockPart): boolean {
    const { firstBlock, blocks } = this.shape
    const end = block + Math.ceil(to / blockSizeBytes)
    if (block < firstBlock || end > firstBlock + blocks) return false
    for (let at = block; at < end; at++) if (!this.has(at)) return false
    return true
  }

  /**
   * Reads a part of blocks, and checks no more than the pieces it is in. Undefined where a checksum is wrong (that block is
   * dropped), or the blocks came with different ETags. Throws the system's errors.
   */
  async readPart(part: BlockPart): Promise<StoredPart | undefined> {
    const { start, end } = this.#piecesOf(part)
    const buffer = Buffer.allocUnsafeSlow(end - start)
    const at = this.#offsetOf(part.block) + start
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, at)
    return this.#checkedPart(part, start, buffer, bytesRead)
  }

  /** Like `readPart`, but synchronous, and into `target` if that is large enough. */
  readPartNow(part: BlockPart, target?: Uint8Array): StoredPart | undefined {
    const { start, end } = this.#piecesOf(part)
    const fits = target !== undefined && target.length >= end - start
    const buffer = fits ? target.subarray(0, end - start) : Buffer.allocUnsafeSlow(end - start)
    const at = this.#offsetOf(part.block) + start
    const bytesRead = this.#disk.readSync(this.#handle.fd, buffer, 0, buffer.length, at)
    return this.#checkedPart(part, start, buffer, bytesRead)
  }

  /**
   * Writes consecutive blocks, as many bytes as possible with `pastPages`. Throws the system's errors; half-written blocks
   * count as absent. `isSure`: syncs the bytes first, so that a block lost in a power cut counts as absent, too.
   */
  async write(
    blocks: readonly StoredBlock[],
    { pastPages, isSure = false }: { pastPages?: PastPages | undefined; isSure?: boolean } = {},
  ): Promise<void> {
    const first = blocks[0]?.block
    const last = blocks.at(-1)?.block
    if (first === undefined || last === undefined) return
    const table = this.#table.copy()
    for (const stored of blocks) table.set(stored)
    const pieces: Uint8Array[] = []
    const all = blocks.flatMap((stored) => stored.bytes)
    const writtenBytes = (await pastPages?.write(this.#file, all, this.#offsetOf(first))) ?? 0
    appendSlice(pieces, all, writtenBytes, Infinity)
    const offset = this.#offsetOf(first) + writtenBytes
    const isUpToTable = last === this.shape.firstBlock + this.shape.blocks - 1
    if (isUpToTable && !isSure && table.bytes.length <= smallTableBytes) {
      const gap = tableOffset(this.shape) - this.shape.dataBytes
      await this.#writeAll([...pieces, Buffer.alloc(gap), table.bytes], offset)
    } else {
      if (pieces.length > 0) await this.#writeAll(pieces, offset)
      if (isSure) await this.#handle.sync()
      const from = this.#table.entryAt(first)
      const entries = table.bytes.subarray(from, this.#table.entryAt(last) + entryBytes)
      await this.#writeAll([entries], tableOffset(this.shape) + from)
    }
    this.#table.takeOver(table, first, last)
  }

  /** Makes the block absent from now on. */
  drop(block: number): void {
    this.#isTrusted = false
    this.#table.drop(block)
  }

  /** Marks every byte of the file as right: the file was our own before it was moved in. `seal` makes this outlive the run. */
  trust(): void {
    this.#isTrusted = true
  }

  /** Computes and writes the table of a trusted segment, reading the file once in small steps. Throws the system's errors. */
  async seal(): Promise<void> {
    const { firstBlock, blocks, dataBytes } = this.shape
    const buffer = Buffer.allocUnsafeSlow(Math.min(8 * blockSizeBytes, dataBytes))
    for (let offset = 0; offset < dataBytes && this.#isTrusted; offset += buffer.length) {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, offset)
      if (bytesRead < Math.min(buffer.length, dataBytes - offset))
        throw new Error(`${this.#file}: it is shorter than the document`)
      for (let at = 0; at < bytesRead; at += blockSizeBytes) {
        const block = firstBlock + (offset + at) / blockSizeBytes
        const bytes = buffer.subarray(at, Math.min(at + blockSizeBytes, bytesRead))
        this.#table.set({ block, bytes: [bytes], tag: 0 })
      }
    }
    if (!this.#isTrusted || blocks === 0) return
    await this.#writeAll([this.#table.bytes], tableOffset(this.shape))
    this.#isTrusted = false
  }

  /** Forgets the ETags of the blocks: the same bytes belong to another version now. */
  async forgetEtags(): Promise<void> {
    this.#table.forgetEtags()
    await this.#writeAll([this.#table.bytes], tableOffset(this.shape))
  }

  /** Closes the file, after the reads and writes under way. */
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

  #checkedPart(
    { block, from, to }: BlockPart,
    start: number,
    buffer: Uint8Array,
    bytesRead: number,
  ): StoredPart | undefined {
    const tag = this.#table.tagOf(block)
    for (let at = 0; at < buffer.length;) {
      const position = start + at
      const current = block + Math.floor(position / blockSizeBytes)
      const inBlock = position % blockSizeBytes
      const bytes = buffer.subarray(at, at + blockSizeBytes - inBlock)
      at += bytes.length
      if (at > bytesRead || !this.#isAsWritten(current, bytes, inBlock)) {
        this.drop(current)
        return undefined
      }
      if (this.#table.tagOf(current) !== tag) return undefined
    }
    return { bytes: buffer.subarray(from - start, to - start), tag }
  }

  #isAsWritten(block: number, bytes: Uint8Array, start = 0): boolean {
    return this.#isTrusted || this.#table.isAsWritten(block, bytes, start)
  }

  async #writeAll(pieces: readonly Uint8Array[], position: number): Promise<void> {
    let length = 0
    for (const piece of pieces) length += piece.length
    const { bytesWritten } = await this.#handle.writev(pieces, position)
    if (bytesWritten < length) {
      throw Object.assign(new Error('ENOSPC: the disk took only a part'), { code: 'ENOSPC' })
    }
  }

  #offsetOf(block: number): number {
    return (block - this.shape.firstBlock) * blockSizeBytes
  }
}

function tableOffset(shape: SegmentShape): number {
  return Math.ceil(shape.dataBytes / tableAlignment) * tableAlignment
}

interface Opened {
  readonly handle: OpenFile
  readonly isNew: boolean
}

/** Opens the file, and creates it where missing. Two processes may do so at once: neither may truncate it. */
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
