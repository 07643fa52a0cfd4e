// A body in chunks, each with its length before it (RFC 9112, 7.1).

import { AnswerHeadError } from './answer-head.ts'

const lineEnd = '\r\n'
/** A line that tells a chunk's length, or a trailer, is not longer. */
const longestLine = 16 * 1024

export class ChunkedBody {
  #rest: Buffer = Buffer.alloc(0)
  /** Bytes of the chunk that are still to come; undefined before its length. */
  #left: number | undefined
  #isInTrailer = false
  isWhole = false

  /** Takes what came, and returns the content in it, in memory of its own. Throws AnswerHeadError. */
  content(received: Uint8Array): Uint8Array[] {
    this.#rest = Buffer.concat([this.#rest, received])
    const found: Uint8Array[] = []
    while (!this.isWhole) {
      if (this.#left !== undefined && this.#left > 0) {
        const piece = this.#rest.subarray(0, this.#left)
        if (piece.length === 0) return found
        found.push(piece)
        this.#left -= piece.length
        this.#rest = this.#rest.subarray(piece.length)
        continue
      }
      const line = this.#line()
      if (line === undefined) return found
      this.#take(line)
    }
    if (this.#rest.length > 0) throw new AnswerHeadError('more comes than its chunks')
    return found
  }

  #take(line: string): void {
    if (this.#isInTrailer) this.isWhole = line === ''
    else if (this.#left === undefined) {
      const [, digits] = /^([\da-f]{1,12})[ \t]*(?:;|$)/i.exec(line) ?? []
      if (digits === undefined) throw new AnswerHeadError('a chunk has no length')
      const length = Number.parseInt(digits, 16)
      this.#isInTrailer = length === 0
      this.#left = length === 0 ? undefined : length
    } else {
      if (line !== '') throw new AnswerHeadError('a chunk is longer than its length')
      this.#left = undefined
    }
  }

  /** Removes and returns the next line. */
  #line(): string | undefined {
    const end = this.#rest.indexOf(lineEnd)
    if ((end === -1 ? this.#rest.length : end) > longestLine)
      throw new AnswerHeadError('a chunk has no length')
    if (end === -1) return undefined
    const line = this.#rest.toString('latin1', 0, end)
    this.#rest = this.#rest.subarray(end + lineEnd.length)
    return line
  }
}
