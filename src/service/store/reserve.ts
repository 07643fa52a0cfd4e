// A file that keeps room on the disk, so that there is always enough to delete something: given up when the disk is full,
// made again when there is room. Without it nothing is accepted that needs room.

import { closeSync, openSync, rmSync, statSync, statfsSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { randomFillSync } from 'node:crypto'

/** Enough for a batch of deletions in the write-ahead log, and to bring that log into the database. */
const reserveBytes = 16 * 1024 * 1024
const retryMs = 1_000

export class Reserve {
  readonly #file: string
  #isThere = false
  #triedAt = -Infinity

  constructor(file: string) {
    this.#file = file
  }

  get isThere(): boolean {
    return this.#isThere
  }

  /** Not more than once a second. */
  get isDue(): boolean {
    return performance.now() - this.#triedAt >= retryMs
  }

  /** Whether there would be room for it, were `bytes` more free. */
  fits(bytes: number): boolean {
    const { bavail, bsize } = statfsSync(dirname(this.#file))
    return bavail * bsize + bytes >= reserveBytes
  }

  /** Gets the room, if there is any. */
  make(): void {
    this.#triedAt = performance.now()
    this.#isThere = this.#isWhole() || this.#write()
  }

  giveUp(): void {
    this.#isThere = false
    this.#triedAt = performance.now()
    rmSync(this.#file, { force: true })
  }

  #isWhole(): boolean {
    return statSync(this.#file, { throwIfNoEntry: false })?.size === reserveBytes
  }

  #write(): boolean {
    // Chance, for there are file systems on which zeros take no room.
    const bytes = randomFillSync(Buffer.allocUnsafeSlow(1024 * 1024))
    try {
      const fd = openSync(this.#file, 'w', 0o600)
      try {
        for (let at = 0; at < reserveBytes;) at += writeSync(fd, bytes, 0, bytes.byteLength, at)
      } finally {
        closeSync(fd)
      }
      return true
    } catch {
      // Whatever is wrong with the disk: there is no room on it.
      rmSync(this.#file, { force: true })
      return false
    }
  }
}
