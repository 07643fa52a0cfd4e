// Decodes the raw text of a JSON string as base64, piece by piece, into a blob. Unlike Node's decoder, which skips unknown
// characters, it refuses all that are neither white space nor in one of the two alphabets (standard and url-safe).

import type { BlobWriter, StagedBlob } from '../blobs/backend.ts'
import { largestPieceBytes } from '../pieces.ts'
import { ServiceError } from '../service-error.ts'

const pieceChars = 64 * 1024
/** Size of the first buffer: most parts of a document with many parts are small. */
const firstBytes = 64 * 1024

export class Base64Decoder {
  readonly #writer: BlobWriter
  readonly #pieceBytes: number
  #out: Buffer
  #used = 0
  /** The write of the other buffer, `#written`, while `#out` fills. The next `await` throws its failure. */
  #writing: Promise<void> = Promise.resolve()
  #written: Buffer | undefined
  /** Zero to three characters of an incomplete group of four. */
  #carry = ''
  #padding = 0

  /**
   * `expectedChars`: upper bound of the text's length, so that a short text gets a small buffer. The writer gets about
   * `pieceBytes` at a time.
   */
  constructor(writer: BlobWriter, expectedChars: number = Infinity, pieceBytes: number = largestPieceBytes) {
    this.#writer = writer
    this.#pieceBytes = pieceBytes
    this.#out = Buffer.allocUnsafe(Math.min(firstBytes, expectedChars))
  }

  /** Decodes raw text of a JSON string, with its escapes; no escape may be split between two calls. */
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
    // Padding may be absent, as in url-safe base64, but not wrong.
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

  /** Returns the piece without the padding at its end. Throws for other characters behind padding. */
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

  /** Starts the write of the full buffer, and swaps the two buffers, so that one fills while the other is written. */
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

/** Number of bytes before `end` that belong to an escape which is incomplete at `end`. */
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

/** Resolves the JSON escapes that may occur in base64 (some encoders escape slashes, or break lines), and removes white space. */
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
