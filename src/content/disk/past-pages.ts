// Writes past the kernel's pages. A block that a reader in order takes as it comes is in the drive's own pages then; copying
// it into those of the cache's file, too, was the most expensive part of a cold read (docs/performance.md). It takes aligned
// memory, which is ours from the copy into it until the system has written it: one write at a time, used again for the next.

import type { Disk } from '../../world/disk.ts'
import type { World } from '../../world/world.ts'
import { appendSlice } from '../block.ts'
import type { Block } from '../block.ts'

/** The unit of position and length, on every disk there is. */
const unitBytes = 4096
/** Less is not worth another file that is opened. */
const leastBytes = 1024 * 1024
/** A segment of the disk cache in one call. */
const roomBytes = 4 * 1024 * 1024
const wasmPageBytes = 64 * 1024
/** Where a mebibyte takes longer time and again, the kernel’s pages take what the disk writes later, for so long. */
const slowMsPerMebibyte = 50
const slowForMs = 1_000
/** So many in a row: a busy processor makes one of them late, too. */
const slowLimit = 3

/** Not among the names TypeScript has for Node. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
}

export class PastPages {
  readonly #disk: Disk
  readonly #now: () => number
  #room: Uint8Array | undefined
  #isTaken = false
  /** The filesystem does not take it, or there is no memory for it. */
  #isRefused = false
  /** Slow writes one after another. */
  #slow = 0
  #slowUntilMs = Number.NEGATIVE_INFINITY

  constructor({ disk, clock }: Pick<World, 'disk' | 'clock'>) {
    this.#disk = disk
    this.#now = clock.monotonic
  }

  /**
   * Writes the beginning of the pieces to a file that is there, and answers how many bytes of it: 0 where it is not worth it, another
   * write has the memory, the disk is slow, or the filesystem refuses. The rest is the caller's.
   */
  async write(file: string, pieces: Block, position: number): Promise<number> {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const end = bytes - (bytes % unitBytes)
    if (end < leastBytes || position % unitBytes !== 0 || this.#isTaken || this.#isRefused) return 0
    const sinceMs = this.#now()
    if (sinceMs < this.#slowUntilMs) return 0
    this.#isTaken = true
    try {
      this.#room ??= alignedRoom()
      const written = await this.#writeFrom(this.#room, file, pieces, { position, end })
      this.#took(sinceMs, end)
      return written
    } catch (error) {
      // Through the pages it may go all the same; where not, that says why.
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
    room: Uint8Array,
    file: string,
    pieces: Block,
    { position, end }: { position: number; end: number },
  ): Promise<number> {
    const opened = await this.#disk.openPastPages(file)
    try {
      let at = 0
      while (at < end) {
        const length = fill(room, pieces, at, Math.min(end, at + room.length))
        const { bytesWritten } = await opened.writev([room.subarray(0, length)], position + at)
        if (bytesWritten < length) break
        at += length
      }
      return at
    } finally {
      await opened.close()
    }
  }
}

/** The only memory of JavaScript that begins where a page does. Where it ever does not, the system refuses to write it. */
function alignedRoom(): Uint8Array {
  const pages = roomBytes / wasmPageBytes
  return new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer)
}

/** Copies the bytes `from` … `to` of the pieces; answers how many. */
function fill(room: Uint8Array, pieces: Block, from: number, to: number): number {
  const parts: Uint8Array[] = []
  appendSlice(parts, pieces, from, to)
  let at = 0
  for (const part of parts) {
    room.set(part, at)
    at += part.length
  }
  return at
}
