// Writes that bypass the page cache (direct I/O). A block that a sequential reader gets is in the page cache of the drive by
// then; copying it into that of the cache file, too, was the most expensive part of a cold read (docs/performance.md). Direct
// I/O needs aligned memory, which is in use until the write is over: there is one buffer, and one write at a time.

import type { Disk } from '../../world/disk.ts'
import type { World } from '../../world/world.ts'
import { appendSlice } from '../block.ts'
import type { Block } from '../block.ts'

/** Alignment of position and length that every disk accepts. */
const unitBytes = 4096
/** Fewer bytes are not worth opening the file once more. */
const leastBytes = 1024 * 1024
/** Size of the buffer: one segment of the disk cache. */
const bufferBytes = 4 * 1024 * 1024
const wasmPageBytes = 64 * 1024
/** Where a mebibyte takes longer several times in a row, writes use the page cache for a while: the disk is slow. */
const slowMsPerMebibyte = 50
const slowForMs = 1_000
/** Number of slow writes in a row: a single one may be due to a busy processor. */
const slowLimit = 3

/** Missing in the types of Node. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
}

export class PastPages {
  readonly #disk: Disk
  readonly #now: () => number
  #buffer: Uint8Array | undefined
  #isTaken = false
  /** The filesystem does not support it, or there is no memory for the buffer. */
  #isRefused = false
  /** Number of slow writes in a row. */
  #slow = 0
  #slowUntilMs = Number.NEGATIVE_INFINITY

  constructor({ disk, clock }: Pick<World, 'disk' | 'clock'>) {
    this.#disk = disk
    this.#now = clock.monotonic
  }

  /**
   * Writes the first bytes of the pieces to an existing file, and returns how many: 0 where it is not worth it, another write has
   * the buffer, the disk is slow, or the filesystem refuses. The caller writes the rest.
   */
  async write(file: string, pieces: Block, position: number): Promise<number> {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const end = bytes - (bytes % unitBytes)
    if (end < leastBytes || position % unitBytes !== 0 || this.#isTaken || this.#isRefused) return 0
    const sinceMs = this.#now()
    if (sinceMs < this.#slowUntilMs) return 0
    this.#isTaken = true
    try {
      this.#buffer ??= alignedBuffer()
      const written = await this.#writeFrom(this.#buffer, file, pieces, { position, end })
      this.#took(sinceMs, end)
      return written
    } catch (error) {
      // The caller's ordinary write may succeed all the same; if not, its error tells why.
      const { code } = error as NodeJS.ErrnoException
      this.#isRefused = code === 'EINVAL' || code === undefined
      return 0
    } finally {
      this.#isTaken = false
    }
  }

  #took(sinceMs: number, bytes: number): void {
    const nowMs = this.#now()
    const isSlow = (nowMs - sinceMs) * 1024 * 1024 > slowMsPerMebibyte * bytes
    this.#slow = isSlow ? this.#slow + 1 : 0
    if (this.#slow < slowLimit) return
    this.#slow = 0
    this.#slowUntilMs = nowMs + slowForMs
  }

  async #writeFrom(
    buffer: Uint8Array,
    file: string,
    pieces: Block,
    { position, end }: { position: number; end: number },
  ): Promise<number> {
    const opened = await this.#disk.openPastPages(file)
    try {
      let at = 0
      while (at < end) {
        const length = fill(buffer, pieces, at, Math.min(end, at + buffer.length))
        const { bytesWritten } = await opened.writev([buffer.subarray(0, length)], position + at)
        if (bytesWritten < length) break
        at += length
      }
      return at
    } finally {
      await opened.close()
    }
  }
}

/** WebAssembly memory is the only memory of JavaScript that is page-aligned. If it ever is not, the system refuses the write. */
function alignedBuffer(): Uint8Array {
  const pages = bufferBytes / wasmPageBytes
  return new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer)
}

/** Copies the bytes `from` … `to` of the pieces into the buffer; returns how many. */
function fill(buffer: Uint8Array, pieces: Block, from: number, to: number): number {
  const parts: Uint8Array[] = []
  appendSlice(parts, pieces, from, to)
  let at = 0
  for (const part of parts) {
    buffer.set(part, at)
    at += part.length
  }
  return at
}
