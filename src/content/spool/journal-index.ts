// The index of the journal's log (`-shm`), which SQLite has mapped, and what it tells of the log. Open for as long as the database
// is: SQLite's own locks on it would go with any descriptor of this process that is closed.

import { accessSync, closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'

/** The first region, which every database in WAL mode has. */
const leastBytes = 32 * 1024
const lastCommitAt = 16
/** Of the log: its own header, one of each frame, and a page behind it (https://sqlite.org/walformat.html). */
const logHeaderBytes = 32
const frameHeaderBytes = 24
const frameBytes = frameHeaderBytes + 4096

export class LogIndex {
  readonly #path: string
  readonly #file: number
  /** The words of the index about the last commit: how many frames, of how many pages, with which sums and salts. */
  readonly #words = new Uint32Array(6)
  readonly #last = Buffer.from(this.#words.buffer)
  readonly #noted = Buffer.alloc(24)
  readonly #frame = Buffer.alloc(frameHeaderBytes)

  /** Of an open database. */
  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'r+')
  }

  /**
   * To write it while it is immutable, or to read it where it was cut, ends the process. Throws EPERM, or EROFS; a cut one is
   * made as long again, and SQLite makes it anew of the log.
   */
  check(): void {
    try {
      accessSync(this.#path, constants.W_OK)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // A missing index is handled elsewhere; a process that may not write it by its mode has it open already.
      if (code === 'EPERM' || code === 'EROFS') throw error
    }
    if (fstatSync(this.#file).size < leastBytes) ftruncateSync(this.#file, leastBytes)
  }

  /** After each commit. */
  note(): void {
    this.#read(this.#noted)
  }

  #read(into: Buffer): void {
    readSync(this.#file, into, 0, into.length, lastCommitAt)
  }

  /** True where it says what was noted, and the log ends with that: nobody else has written either. Between two transactions. */
  isAsNoted(log: number): boolean {
    const [last, frame] = [this.#last, this.#frame]
    this.#read(last)
    if (!last.equals(this.#noted)) return false
    const [frames = 0, , ...sums] = this.#words
    if (frames === 0) return true
    const at = logHeaderBytes + (frames - 1) * frameBytes
    if (readSync(log, frame, 0, frameHeaderBytes, at) < frameHeaderBytes) return false
    const isOfThisRound = frame.subarray(8, 16).equals(last.subarray(16, 24))
    return isOfThisRound && sums[0] === frame.readUInt32BE(16) && sums[1] === frame.readUInt32BE(20)
  }

  /** After its database. */
  close(): void {
    closeSync(this.#file)
  }
}
