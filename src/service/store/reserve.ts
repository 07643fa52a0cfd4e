// A file that reserves disk space, so that deletions work on a full disk: it is cut piece by piece when they need space, and
// filled up again when there is some. While it is not whole, the writer refuses all changes that need space.

import { closeSync, ftruncateSync, openSync, statSync, statfsSync, truncateSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomFillSync } from 'node:crypto'

/** Enough for a batch of deletions in the write-ahead log, and for the checkpoint of that log. */
const reserveBytes = 16 * 1024 * 1024
/** Small, because another program that fills the disk may take part of each freed piece. */
const pieceBytes = 1024 * 1024
const retryMs = 1_000

export class Reserve {
  readonly #file: string
  #isWhole = false
  #triedAt = -Infinity

  constructor(file: string) {
    this.#file = file
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  /** True if the last attempt to fill it, or the last cut, was more than a second ago. */
  get isDue(): boolean {
    return performance.now() - this.#triedAt >= retryMs
  }

  /** True if the missing part of the reserve would fit on the disk with `bytes` more of free space. */
  fits(bytes: number): boolean {
    const { bavail, bsize } = statfsSync(dirname(this.#file))
    return bavail * bsize + bytes >= reserveBytes - this.#size()
  }

  /** Fills the reserve up, if the disk has space. */
  make(): void {
    this.#triedAt = performance.now()
    this.#isWhole = this.#grow()
  }

  /** Frees a piece of disk space. Returns false if nothing is left. */
  giveUpPiece(): boolean {
    const size = this.#size()
    if (size === 0) return false
    this.#isWhole = false
    this.#triedAt = performance.now()
    truncateSync(this.#file, Math.max(0, size - pieceBytes))
    return true
  }

  #size(): number {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Adds the missing bytes, all or none. Returns true if the file is whole now. */
  #grow(): boolean {
    const before = this.#size()
    if (before === reserveBytes) return true
    // Random bytes, because zeros take no space on file systems that compress.
    const bytes = randomFillSync(Buffer.allocUnsafeSlow(pieceBytes))
    try {
      const fd = openSync(this.#file, 'a', 0o600)
      try {
        for (let at = before; at < reserveBytes;) {
          at += writeSync(fd, bytes, 0, Math.min(bytes.byteLength, reserveBytes - at))
        }
        return true
      } catch {
        // Any error of the disk counts as no space.
        ftruncateSync(fd, before)
        return false
      } finally {
        closeSync(fd)
      }
    } catch {
      return false
    }
  }
}
