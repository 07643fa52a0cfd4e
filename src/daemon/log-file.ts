// A bounded log file: at 10 MiB it becomes `FILE.1` (an older one `FILE.2` and so on, up to as many as are kept) and a new
// one begins. Written synchronously, so that the last line before a crash exists. A file that was removed or moved
// (logrotate, a hand) is made anew within a second: lines into a file without a name are lines nobody reads.

import { closeSync, existsSync, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

const limitBytes = 10 * 2 ** 20
const lookMs = 1_000

export class LogFile {
  readonly path: string
  readonly #limitBytes: number
  readonly #keep: number
  #fd: number
  #sizeBytes: number
  #lookedAt = performance.now()

  constructor(path: string, options: { limitBytes?: number; keep?: number } = {}) {
    this.path = path
    this.#limitBytes = options.limitBytes ?? limitBytes
    this.#keep = options.keep ?? 1
    this.#fd = openSync(path, 'a', 0o600)
    this.#sizeBytes = fstatSync(this.#fd).size
  }

  /** Appends one line. Never throws: a full disk must not end the daemon that keeps people's documents. */
  write(line: string): void {
    try {
      this.#look()
      if (this.#sizeBytes >= this.#limitBytes) this.#startAnew()
      this.#sizeBytes += writeSync(this.#fd, line)
    } catch {
      // A log that fails has no place to say so.
    }
  }

  close(): void {
    closeSync(this.#fd)
  }

  /** Where no new file can be made the old one goes on. */
  #look(): void {
    const now = performance.now()
    if (now - this.#lookedAt < lookMs) return
    this.#lookedAt = now
    try {
      const { dev, ino } = fstatSync(this.#fd)
      const found = statSync(this.path, { throwIfNoEntry: false })
      if (found?.dev !== dev || found.ino !== ino) this.#open()
    } catch {
      // The folder is gone, or not ours any more.
    }
  }

  #open(): void {
    const old = this.#fd
    this.#fd = openSync(this.path, 'a', 0o600)
    this.#sizeBytes = fstatSync(this.#fd).size
    closeSync(old)
  }

  #startAnew(): void {
    try {
      for (let number = this.#keep - 1; number > 0; number--) {
        const older = `${this.path}.${number}`
        if (existsSync(older)) renameSync(older, `${this.path}.${number + 1}`)
      }
      renameSync(this.path, `${this.path}.1`)
      this.#open()
    } catch {
      // Its folder is not ours, for instance: beyond its bound rather than without the line.
    }
  }
}
