// Append-only buffer of bytes, read by position. Texts are UTF-8, each preceded by its length.

const sevenBits = 0x7f

/** Size from which a buffer gets a memory mapping of its own. */
const mappedBytes = 64 * 1024

export class GrowingBytes {
  #bytes: Buffer
  #length = 0

  constructor(capacity = 256) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length
  }

  /** Bytes allocated. */
  get capacity(): number {
    return this.#bytes.length
  }

  addByte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  addDouble(value: number): void {
    this.#reserve(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  /** Appends a number below 2^31 in as few bytes as it takes. */
  addCount(value: number): void {
    let rest = value
    for (; rest > sevenBits; rest >>>= 7) this.addByte((rest & sevenBits) | 0x80)
    this.addByte(rest)
  }

  addText(text: string): void {
    if (this.#addAscii(text)) return
    const bytes = Buffer.byteLength(text)
    this.addCount(bytes)
    this.#reserve(bytes)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** Appends a short ASCII text, as most names are, without a native call. Returns false for any other text. */
  #addAscii(text: string): boolean {
    if (text.length > sevenBits) return false
    this.#reserve(text.length + 1)
    const bytes = this.#bytes
    let at = this.#length
    bytes[at++] = text.length
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > sevenBits) return false
      bytes[at++] = code
    }
    this.#length = at
    return true
  }

  byteAt(at: number): number {
    return this.#bytes[at] as number
  }

  setByte(at: number, value: number): void {
    this.#bytes[at] = value
  }

  /** True if the text at this position equals the first `length` bytes of `text` (UTF-8). */
  isTextAt(at: number, text: Uint8Array, length: number): boolean {
    const reader = new ByteReader(this.#bytes, at)
    if (reader.count() !== length) return false
    const from = reader.at
    for (let index = 0; index < length; index++) if (this.#bytes[from + index] !== text[index]) return false
    return true
  }

  /** Returns the text at this position, as UTF-8. Valid until more is appended. */
  textAt(at: number): Uint8Array {
    const reader = new ByteReader(this.#bytes, at)
    const length = reader.count()
    return this.#bytes.subarray(reader.at, reader.at + length)
  }

  readAt(at: number): ByteReader {
    return new ByteReader(this.#bytes, at)
  }

  /** Releases memory that was reserved for more. */
  trim(): void {
    if (this.#bytes.length === this.#length) return
    const exact = allocate(this.#length)
    this.#bytes.copy(exact, 0, 0, this.#length)
    this.#bytes = exact
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.ceil(this.#bytes.length * 1.5)))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** Reads the values one after another. */
export class ByteReader {
  readonly #bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  byte(): number {
    return this.#bytes[this.at++] as number
  }

  double(): number {
    const value = this.#bytes.readDoubleLE(this.at)
    this.at += 8
    return value
  }

  count(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte()
      value |= (byte & sevenBits) << shift
      if (byte <= sevenBits) return value
    }
  }

  text(): string {
    const length = this.count()
    this.at += length
    return this.#bytes.toString('utf8', this.at - length, this.at)
  }
}

/**
 * Allocates memory that returns to the machine when a long listing is dropped: a buffer that might be resized is mapped, while
 * others are pieces of a heap that does not shrink. Slow to write byte by byte: only for complete content.
 */
function allocate(bytes: number): Buffer {
  if (bytes < mappedBytes) return Buffer.allocUnsafeSlow(bytes)
  const Mapped = ArrayBuffer as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer
  return Buffer.from(new Mapped(bytes, { maxByteLength: bytes }))
}
