// A file that keeps room on the disk, so that there is always enough to delete something: given up piece by piece when the
// disk is full, made whole again when there is room. While it is not whole nothing is accepted that needs room.

import { closeSync, ftruncateSync, openSync, statSync, statfsSync, truncateSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomFillSync } from 'node:crypto'

/** Enough for a batch of deletions in the write-ahead log, and to bring that log into the database. */
const reserveBytes = 16 * 1024 * 1024
/** Small: another program that fills the disk takes what it is quick enough to take of each. */
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

  /** Not more than once a second. */
  get isDue(): boolean {
    return performance.now() - this.#triedAt >= retryMs
  }

  /** True if the rest of the reserve would fit on the disk, were `bytes` more free. */
  fits(bytes: number): boolean {
    const { bavail, bsize } = statfsSync(dirname(this.#file))
    return bavail * bsize + bytes >= reserveBytes - this.#size()
  }

  /** Gets the room, if there is any. */
  make(): void {
    this.#triedAt = performance.now()
    this.#isWhole = this.#grow()
  }

  /** Gives a piece to whoever takes it first. False where nothing is left. */
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

  /** Adds what is missing; what there was stays where that cannot be. */
  #grow(): boolean {
    const before = this.#size()
    if (before === reserveBytes) return true
    // Chance, for there are file systems on which zeros take no room.
    const bytes = randomFillSync(Buffer.allocUnsafeSlow(pieceBytes))
    try {
      const fd = openSync(this.#file, 'a', 0o600)
      try {
        for (let at = before; at < reserveBytes;) {
          at += writeSync(fd, bytes, 0, Math.min(bytes.byteLength, reserveBytes - at))
        }
        return true
      } catch {
        // Whatever is wrong with the disk: there is no room on it.
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
