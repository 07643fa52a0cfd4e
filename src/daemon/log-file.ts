// A log file that rotates: at 10 MiB it becomes `FILE.1`, an older one `FILE.2`, and so on. Written synchronously, so that
// the last line before a crash is there. A file that was removed or moved (logrotate) is created again within a second.

import { closeSync, existsSync, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

const limitBytes = 10 * 2 ** 20
const checkIntervalMs = 1_000

export class LogFile {
  readonly path: string
  readonly #limitBytes: number
  /** Number of older files. */
  readonly #keep: number
  #fd: number
  #sizeBytes: number
  #checkedAtMs = performance.now()

  constructor(path: string, options: { limitBytes?: number; keep?: number } = {}) {
    this.path = path
    this.#limitBytes = options.limitBytes ?? limitBytes
    this.#keep = options.keep ?? 1
    this.#fd = openSync(path, 'a', 0o600)
    this.#sizeBytes = fstatSync(this.#fd).size
  }

  /** Appends one line. Never throws: a full disk must not end the daemon. */
  write(line: string): void {
    try {
      this.#reopenIfMoved()
      if (this.#sizeBytes >= this.#limitBytes) this.#rotate()
      this.#sizeBytes += writeSync(this.#fd, line)
    } catch {
      // A failing log cannot be logged.
    }
  }

  close(): void {
    closeSync(this.#fd)
  }

  /** Opens the path again if another file, or none, has it. If that fails, the old file stays in use. */
  #reopenIfMoved(): void {
    const now = performance.now()
    if (now - this.#checkedAtMs < checkIntervalMs) return
    this.#checkedAtMs = now
    try {
      const { dev, ino } = fstatSync(this.#fd)
      const found = statSync(this.path, { throwIfNoEntry: false })
      if (found?.dev !== dev || found.ino !== ino) this.#open()
    } catch {
      // The folder is gone, or not writable any more.
    }
  }

  #open(): void {
    const old = this.#fd
    this.#fd = openSync(this.path, 'a', 0o600)
    this.#sizeBytes = fstatSync(this.#fd).size
    closeSync(old)
  }

  #rotate(): void {
    try {
      for (let number = this.#keep - 1; number > 0; number--) {
        const older = `${this.path}.${number}`
        if (existsSync(older)) renameSync(older, `${this.path}.${number + 1}`)
      }
      renameSync(this.path, `${this.path}.1`)
      this.#open()
    } catch {
      // The folder is not writable, for example: the file then grows beyond its limit.
    }
  }
}
