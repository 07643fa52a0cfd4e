// Decodes the raw text of a JSON string as base64, piece by piece, into a blob. Strict, unlike Node's decoder, which skips
// what it does not know: anything outside the alphabet (either of the two), apart from white space, is refused.

import type { BlobWriter, StagedBlob } from '../blobs/backend.ts'
import { largestPieceBytes } from '../pieces.ts'
import { ServiceError } from '../service-error.ts'

const pieceChars = 64 * 1024
/** To begin with: most parts of a document of many parts are small. */
const firstBytes = 64 * 1024

export class Base64Decoder {
  readonly #writer: BlobWriter
  readonly #pieceBytes: number
  #out: Buffer
  #used = 0
  /** The write of `#written` while `#out` fills; its failure is thrown where it is awaited next. */
  #writing: Promise<void> = Promise.resolve()
  #written: Buffer | undefined
  /** Zero to three characters that do not make a group yet. */
  #carry = ''
  #padding = 0

  /**
   * `expectedChars`: no more than this will be written, so that little text takes little memory. The writer is given some
   * `pieceBytes` at a time.
   */
  constructor(writer: BlobWriter, expectedChars: number = Infinity, pieceBytes: number = largestPieceBytes) {
    this.#writer = writer
    this.#pieceBytes = pieceBytes
    this.#out = Buffer.allocUnsafe(Math.min(firstBytes, expectedChars))
  }

  /** Takes the text of a JSON string as it was sent, escapes and all; no escape may be split between two pieces. */
  async write(raw: Buffer): Promise<void> {
    for (let start = 0; start < raw.byteLength;) {
      let end = Math.min(start + pieceChars, raw.byteLength)
      if (end < raw.byteLength) end -= splitEscapeBytes(raw, start, end)
      this.#reserve(end - start)
      this.#decode(unescapeBase64(raw.toString('latin1', start, end)))
      if (this.#used >= this.#pieceBytes) await this.#flush()
      start = end
    }
  }

  async finish(): Promise<StagedBlob> {
    const groupChars = this.#carry.length
    // Padding may be left out, as the url-safe form does, but not be wrong.
    const isWhole =
      this.#padding === 0 ? groupChars !== 1 : groupChars + this.#padding === 4 && groupChars >= 2
    if (!isWhole) throw notBase64()
    const bytes = this.#out.write(this.#carry, this.#used, 'base64')
    if (bytes !== Math.floor((groupChars * 3) / 4)) throw notBase64()
    this.#used += bytes
    await this.#writing
    await this.#writer.write(this.#out.subarray(0, this.#used))
    return this.#writer.finish()
  }

  #reserve(chars: number): void {
    if (this.#used + chars + 4 <= this.#out.byteLength) return
    const larger = Buffer.allocUnsafe(this.#pieceBytes + pieceChars + 4)
    this.#out.copy(larger, 0, 0, this.#used)
    this.#out = larger
  }

  #decode(piece: string): void {
    const text = this.#carry + this.#takePadding(piece)
    const chars = text.length - (text.length % 4)
    this.#carry = text.slice(chars)
    const bytes = this.#out.write(chars === text.length ? text : text.slice(0, chars), this.#used, 'base64')
    if (bytes !== (chars / 4) * 3) throw notBase64()
    this.#used += bytes
  }

  /** The piece without the padding that ends it; nothing but padding may follow padding. */
  #takePadding(piece: string): string {
    const at = piece.indexOf('=')
    const data = at === -1 ? piece : piece.slice(0, at)
    if (this.#padding > 0 && data !== '') throw notBase64()
    if (at !== -1) {
      this.#padding += piece.length - at
      if (this.#padding > 2 || !/^=+$/.test(piece.slice(at))) throw notBase64()
    }
    return data
  }

  /** Two buffers take turns, so that one fills while the other is hashed and written. */
  async #flush(): Promise<void> {
    await this.#writing
    const full = this.#out
    this.#writing = this.#writer.write(full.subarray(0, this.#used))
    this.#writing.catch(() => undefined)
    this.#out = this.#written ?? Buffer.allocUnsafe(full.byteLength)
    this.#written = full
    this.#used = 0
  }
}

/** How many bytes before `end` begin an escape that reaches beyond it. */
export function splitEscapeBytes(raw: Buffer, start: number, end: number): number {
  const last = raw.lastIndexOf(0x5c, end - 1)
  if (last < start || last < end - 6) return 0
  let first = last
  while (first > start && raw[first - 1] === 0x5c) first--
  // An even run of backslashes is complete in itself.
  if ((last - first) % 2 === 1) return 0
  const escapeBytes = raw[last + 1] === 0x75 && last + 1 < end ? 6 : 2
  return last + escapeBytes > end ? end - last : 0
}

/** Resolves JSON's escapes as far as base64 may contain them: encoders escape slashes, and some send lines. */
function unescapeBase64(raw: string): string {
  if (!raw.includes('\\')) return raw.includes(' ') ? raw.replaceAll(' ', '') : raw
  if (raw.includes('\\\\')) throw notBase64()
  const text = raw.replaceAll('\\/', '/').replaceAll('\\r', '').replaceAll('\\n', '')
  return text
    .replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
    .replaceAll(/\\t|[ \r\n\t]/g, '')
}

function notBase64(): ServiceError {
  return new ServiceError(400, 'the content is not base64')
}
