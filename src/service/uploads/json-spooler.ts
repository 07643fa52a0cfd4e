// Reads a JSON body of any size in constant memory. Long base64 strings (values of `file` and `content` at any depth) are
// decoded to staged blobs while they arrive, and replaced by placeholders. The rest, which may include signed URLs, is small
// enough for JSON.parse and the schemas. It works on bytes: a file above 384 MiB would not fit into a JavaScript string.
//
//   outside ──"──→ string ──"──→ outside
//                    │ long, base64 by its key, and no URL
//                    └──→ spooling ──"──→ outside

import type { StagedBlob } from '../blobs/backend.ts'
import { checkJson, findClosingQuote } from '../edge/json-limits.ts'
import { checkTexts, decodeJson } from '../edge/json-text.ts'
import type { Limits } from '../limits.ts'
import { ServiceError } from '../service-error.ts'
import { Base64Decoder, splitEscapeBytes } from './base64-decoder.ts'
import type { Staging } from './staging.ts'

const restLimitBytes = 1024 * 1024
/** Size of the first buffer for the rest: without its content, an upload has some hundred bytes. */
const firstRestBytes = 1024
/** Longer strings are spooled. */
const longBytes = 1024
/** The scheme of a URL: base64 never begins with one. */
const urlScheme = /^[a-z][a-z\d+.-]*:/i
const quote = 0x22
const nothing = Buffer.alloc(0)

export class JsonSpooler {
  readonly #staging: Staging
  readonly #limits: Limits
  readonly #expectedBytes: number
  #mode: 'outside' | 'string' | 'spooling' = 'outside'
  /** The body with placeholders in the place of spooled strings. */
  #rest = Buffer.allocUnsafe(firstRestBytes)
  #restBytes = 0
  /** Offsets in `#rest`: the opening quote of the current or last string, and the end of the last one. */
  #stringStart = 0
  #stringEnd = 0
  #isBase64Key = false
  #decoder: Base64Decoder | undefined
  /** The beginning of an escape that the next chunk completes. */
  #splitEscape: Buffer = nothing

  /** `expectedBytes`: upper bound of the body's length, so that a small body gets small buffers. */
  constructor(staging: Staging, limits: Limits, expectedBytes: number = Infinity) {
    this.#staging = staging
    this.#limits = limits
    this.#expectedBytes = expectedBytes
  }

  /** Throws ServiceError 400 for invalid base64, 413 when the body is too large without its base64. */
  async write(arrived: Buffer): Promise<void> {
    const chunk = this.#splitEscape.byteLength === 0 ? arrived : Buffer.concat([this.#splitEscape, arrived])
    this.#splitEscape = nothing
    for (let at = 0; at < chunk.byteLength;) {
      at = this.#mode === 'outside' ? this.#readOutside(chunk, at) : await this.#readString(chunk, at)
    }
  }

  /** Returns the parsed body. Throws ServiceError 400 for invalid JSON, and as `checkJson` does. */
  finish(): unknown {
    if (this.#mode !== 'outside')
      throw new ServiceError(400, 'the body ends inside a string: it was cut short')
    const rest = this.#rest.subarray(0, this.#restBytes)
    checkJson(rest, this.#limits)
    const text = decodeJson(rest)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      throw new ServiceError(400, 'the body is not JSON', { cause: error })
    }
    checkTexts(text, value)
    return value
  }

  #readOutside(chunk: Buffer, at: number): number {
    const opening = chunk.indexOf(quote, at)
    const end = opening === -1 ? chunk.byteLength : opening + 1
    this.#append(chunk, at, end)
    if (opening === -1) return end
    this.#isBase64Key = this.#followsBase64Key()
    this.#stringStart = this.#restBytes - 1
    this.#mode = 'string'
    return end
  }

  async #readString(chunk: Buffer, at: number): Promise<number> {
    const closing = findClosingQuote(chunk, at)
    let end = closing === -1 ? chunk.byteLength : closing
    if (closing === -1) {
      const split = splitEscapeBytes(chunk, at, end)
      end -= split
      if (split > 0) this.#splitEscape = Buffer.from(chunk.subarray(end))
    }
    if (this.#mode === 'string' && this.#isBase64Key && this.#isLong(end - at)) {
      this.#isBase64Key = !this.#isUrl(chunk.subarray(at, end))
      if (this.#isBase64Key) await this.#startSpooling()
    }
    if (this.#decoder === undefined) this.#append(chunk, at, end)
    else await this.#decoder.write(chunk.subarray(at, end))
    if (closing === -1) return chunk.byteLength
    await this.#endString(chunk, closing)
    return closing + 1
  }

  /** True for a string that begins with a scheme: a signed URL may be long, too. `arrived` continues the string in `#rest`. */
  #isUrl(arrived: Buffer): boolean {
    const begun = this.#rest.toString('latin1', this.#stringStart + 1, this.#restBytes)
    return urlScheme.test(begun + arrived.toString('latin1', 0, longBytes))
  }

  async #startSpooling(): Promise<void> {
    const begun = Buffer.from(this.#rest.subarray(this.#stringStart + 1, this.#restBytes))
    this.#decoder = new Base64Decoder(this.#staging.stage(), this.#expectedBytes, this.#staging.pieceBytes)
    this.#restBytes = this.#stringStart + 1
    this.#mode = 'spooling'
    await this.#decoder.write(begun)
  }

  async #endString(chunk: Buffer, closing: number): Promise<void> {
    if (this.#decoder !== undefined) {
      const blob: StagedBlob = await this.#decoder.finish()
      const placeholder = Buffer.from(this.#staging.placeholderOf(blob))
      this.#append(placeholder, 0, placeholder.byteLength)
      this.#decoder = undefined
    }
    this.#append(chunk, closing, closing + 1)
    this.#stringEnd = this.#restBytes
    this.#mode = 'outside'
  }

  #isLong(arrivedBytes: number): boolean {
    return this.#restBytes - this.#stringStart + arrivedBytes > longBytes
  }

  /** True when the string that begins now is the value of `file` or `content`. */
  #followsBase64Key(): boolean {
    const between = this.#rest.toString('latin1', this.#stringEnd, this.#restBytes - 1)
    if (between.trim() !== ':') return false
    const key = this.#rest.toString('latin1', this.#stringStart, this.#stringEnd)
    return key === '"file"' || key === '"content"'
  }

  #append(source: Buffer, start: number, end: number): void {
    const needed = this.#restBytes + end - start
    if (needed > restLimitBytes) {
      throw new ServiceError(413, 'more than 1 MiB beside the base64 content: send long text as a file')
    }
    if (needed > this.#rest.byteLength) {
      const larger = Buffer.allocUnsafe(Math.min(restLimitBytes, Math.max(needed, this.#rest.byteLength * 2)))
      this.#rest.copy(larger, 0, 0, this.#restBytes)
      this.#rest = larger
    }
    source.copy(this.#rest, this.#restBytes, start, end)
    this.#restBytes = needed
  }
}
