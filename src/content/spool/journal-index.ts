// The index of the journal's log (`-shm`), which SQLite has mapped, read to detect writes by others. It stays open for as long as
// the database: closing any descriptor of the file in this process would drop SQLite's own locks on it.

import { accessSync, closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'

/** Bytes of the first region, which every database in WAL mode has. */
const leastBytes = 32 * 1024
const lastCommitAt = 16
/** Format of the log: a header, then frames of a header and a page each (https://sqlite.org/walformat.html). */
const logHeaderBytes = 32
const frameHeaderBytes = 24
const frameBytes = frameHeaderBytes + 4096

export class LogIndex {
  readonly #path: string
  readonly #file: number
  /** The words of the index about the last commit: number of frames, number of pages, checksums and salts. */
  readonly #words = new Uint32Array(6)
  readonly #last = Buffer.from(this.#words.buffer)
  readonly #noted = Buffer.alloc(24)
  readonly #frame = Buffer.alloc(frameHeaderBytes)

  /** Opens the index of an open database. */
  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'r+')
  }

  /**
   * Prevents accesses by SQLite that would end the process. Throws EPERM or EROFS where the index cannot be written; extends a
   * truncated one, which SQLite then rebuilds from the log.
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

  /** Notes the state after a commit. */
  note(): void {
    this.#read(this.#noted)
  }

  #read(into: Buffer): void {
    readSync(this.#file, into, 0, into.length, lastCommitAt)
  }

  /** True where the index is as noted, and the log ends with that commit, so nothing else wrote them. Only between transactions. */
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

  /** To be called after the database was closed. */
  close(): void {
    closeSync(this.#file)
  }
}
