// Log lines for a terminal, a pipe or a file. Writing never waits for the reader: lines it does not take are buffered up to a
// limit, then dropped and counted.

import { write, writeSync } from 'node:fs'

const maxWaitingBytes = 4 * 2 ** 20
const retryMs = 50
/** Lines within this time are written together: a write costs more than a line. */
const gatherMs = 10

export class LogStream {
  readonly #fd: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** True while lines are gathered for a write, or written. */
  #isWriting = false
  #dropped = 0

  constructor(fd: number) {
    this.#fd = fd
    process.once('exit', () => this.#writeRest())
  }

  /** Never throws: a reader that is gone must not end this process. */
  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#waitingBytes + bytes.byteLength > maxWaitingBytes) {
      this.#dropped++
      return
    }
    this.#add(bytes)
    if (!this.#isWriting) this.#writeSoon()
  }

  #writeSoon(): void {
    this.#isWriting = true
    setTimeout(() => this.#writeAll(), gatherMs).unref()
  }

  #add(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.byteLength
  }

  #writeAll(): void {
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#isWriting = true
    write(this.#fd, bytes, 0, bytes.byteLength, null, (error, written) => {
      this.#isWriting = false
      // The pipe is full.
      if (error?.code === 'EAGAIN') {
        this.#waiting.unshift(bytes)
        setTimeout(() => this.#isWriting || this.#writeAll(), retryMs).unref()
        return
      }
      // Any other error (no reader, a full disk): these lines are lost. Later ones may succeed.
      const done = error === null ? written : bytes.byteLength
      this.#waitingBytes -= done
      if (done < bytes.byteLength) this.#waiting.unshift(bytes.subarray(done))
      if (this.#dropped > 0) {
        const line = `{"level":"warn","time":"${new Date().toISOString()}","msg":"${this.#dropped} lines of the log were dropped: nobody read them"}\n`
        this.#dropped = 0
        this.#add(Buffer.from(line))
      }
      if (this.#waiting.length > 0) this.#writeSoon()
    })
  }

  #writeRest(): void {
    try {
      for (const bytes of this.#waiting) writeSync(this.#fd, bytes)
    } catch {
      // A failing log cannot be logged.
    }
  }
}
