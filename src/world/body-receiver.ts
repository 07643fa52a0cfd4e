// Reception of a response's body: where the next bytes go, and which of them are content.

import { AnswerHeadError, type BodyLength } from './answer-head.ts'
import { takeMemory } from './block-memory.ts'

export interface BodyReceiver {
  readonly isWhole: boolean
  /** True for a body that is whole when the connection ends. */
  readonly endsWithConnection: boolean
  /** Memory for the next bytes to come; never empty. */
  space(): Uint8Array
  /** Returns the content in the `bytes` that came into `space()`, in memory that is not written to again. Throws AnswerHeadError. */
  content(bytes: number): readonly Uint8Array[]
}

/** A line that tells a chunk's length, or a trailer, is not longer (bytes). */
const longestLine = 16 * 1024
const lineEnd = '\r\n'

/** `scratch`: memory for what has to be copied, since its content is not known before it has come. */
export function receiverOf(length: BodyLength, scratch: Buffer): BodyReceiver {
  if (length === 'chunked') return new ChunkedBody(scratch)
  return length === 'until-close' ? new EndlessBody(scratch) : new MeasuredBody(length)
}

/** A body of a known length is received into the memory that it is kept in. */
class MeasuredBody implements BodyReceiver {
  readonly endsWithConnection = false
  #leftBytes: number
  #piece: Uint8Array = new Uint8Array(0)
  #filledBytes = 0

  constructor(length: number) {
    this.#leftBytes = length
  }

  get isWhole(): boolean {
    return this.#leftBytes === 0
  }

  space(): Uint8Array {
    if (this.#filledBytes === this.#piece.length) {
      this.#piece = takeMemory(this.#leftBytes)
      this.#filledBytes = 0
    }
    return this.#piece.subarray(this.#filledBytes)
  }

  content(bytes: number): readonly Uint8Array[] {
    const from = this.#filledBytes
    this.#filledBytes += bytes
    this.#leftBytes -= bytes
    return [this.#piece.subarray(from, this.#filledBytes)]
  }
}

/** A body whose end is the end of the connection. */
class EndlessBody implements BodyReceiver {
  readonly isWhole = false
  readonly endsWithConnection = true
  readonly #scratch: Buffer

  constructor(scratch: Buffer) {
    this.#scratch = scratch
  }

  space(): Uint8Array {
    return this.#scratch
  }

  content(bytes: number): readonly Uint8Array[] {
    return [new Uint8Array(this.#scratch.subarray(0, bytes))]
  }
}

/** A body in chunks, each with its length before it (RFC 9112, 7.1). */
class ChunkedBody implements BodyReceiver {
  readonly endsWithConnection = false
  isWhole = false
  readonly #scratch: Buffer
  /** Received bytes whose meaning depends on what follows. */
  #rest: Buffer = Buffer.alloc(0)
  /** Bytes of the chunk that are still to come; undefined before its length. */
  #left: number | undefined
  #isInTrailer = false

  constructor(scratch: Buffer) {
    this.#scratch = scratch
  }

  space(): Uint8Array {
    return this.#scratch
  }

  content(bytes: number): readonly Uint8Array[] {
    // A copy, also where nothing was left: the scratch is written to again.
    this.#rest = Buffer.concat([this.#rest, this.#scratch.subarray(0, bytes)])
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
      const line = this.#takeLine()
      if (line === undefined) return found
      this.#readLine(line)
    }
    if (this.#rest.length > 0) throw new AnswerHeadError('more comes than its chunks')
    return found
  }

  #readLine(line: string): void {
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

  #takeLine(): string | undefined {
    const end = this.#rest.indexOf(lineEnd)
    if ((end === -1 ? this.#rest.length : end) > longestLine)
      throw new AnswerHeadError('a chunk has no length')
    if (end === -1) return undefined
    const line = this.#rest.toString('latin1', 0, end)
    this.#rest = this.#rest.subarray(end + lineEnd.length)
    return line
  }
}
