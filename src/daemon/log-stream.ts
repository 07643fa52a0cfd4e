// Lines into a descriptor somebody else reads: a terminal, a pipe, a file. Never waits for the reader: what does not get
// through is kept up to a bound, then dropped and counted.

import { write, writeSync } from 'node:fs'

const maxWaitingBytes = 4 * 2 ** 20
const retryMs = 50
/** Lines that come within it are written together: a write of its own costs more than a line. */
const gatherMs = 10

export class LogStream {
  readonly #fd: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #isWriting = false
  #dropped = 0

  constructor(fd: number) {
    this.#fd = fd
    process.once('exit', () => this.#writeRest())
  }

  /** Never throws: a reader that is gone must not end whoever has something to say. */
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
      if (error?.code === 'EAGAIN') {
        this.#waiting.unshift(bytes)
        setTimeout(() => this.#isWriting || this.#writeAll(), retryMs).unref()
        return
      }
      // Any other error: nobody reads, or there is no room. Later lines may get through again.
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
      // A log that fails has no place to say so.
    }
  }
}
