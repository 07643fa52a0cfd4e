// Bytes that are only ever added to, and read by their places. Texts are UTF-8, each with its length before it.

const sevenBits = 0x7f

/** From here on memory is mapped for the buffer alone. */
const mappedBytes = 64 * 1024

export class GrowingBytes {
  #bytes: Buffer
  #length = 0

  constructor(room = 256) {
    this.#bytes = Buffer.allocUnsafeSlow(room)
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length
  }

  /** Bytes held. */
  get room(): number {
    return this.#bytes.length
  }

  addByte(value: number): void {
    this.#makeRoom(1)
    this.#bytes[this.#length++] = value
  }

  addDouble(value: number): void {
    this.#makeRoom(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  /** A length or number of less than 2^31, in as few bytes as it takes. */
  addCount(value: number): void {
    let rest = value
    for (; rest > sevenBits; rest >>>= 7) this.addByte((rest & sevenBits) | 0x80)
    this.addByte(rest)
  }

  addText(text: string): void {
    if (this.#addAscii(text)) return
    const bytes = Buffer.byteLength(text)
    this.addCount(bytes)
    this.#makeRoom(bytes)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** Most names are short and plain: no call leaves this language for them. */
  #addAscii(text: string): boolean {
    if (text.length > sevenBits) return false
    this.#makeRoom(text.length + 1)
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

  /** True where the text that stands there is this one, given as the first bytes of UTF-8. */
  isTextAt(at: number, text: Uint8Array, length: number): boolean {
    const reader = new ByteReader(this.#bytes, at)
    if (reader.count() !== length) return false
    const from = reader.at
    for (let index = 0; index < length; index++) if (this.#bytes[from + index] !== text[index]) return false
    return true
  }

  /** The text that stands there, as UTF-8. Valid until more is added. */
  textAt(at: number): Uint8Array {
    const reader = new ByteReader(this.#bytes, at)
    const length = reader.count()
    return this.#bytes.subarray(reader.at, reader.at + length)
  }

  readAt(at: number): ByteReader {
    return new ByteReader(this.#bytes, at)
  }

  /** Gives back what was held for more. */
  trim(): void {
    if (this.#bytes.length === this.#length) return
    const exact = allocate(this.#length)
    this.#bytes.copy(exact, 0, 0, this.#length)
    this.#bytes = exact
  }

  #makeRoom(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.ceil(this.#bytes.length * 1.5)))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** Goes through what was written, one value after another. */
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
 * Memory as long as a listing goes back to the machine when it is dropped: a buffer that might be resized is mapped,
 * where others are pieces of a heap that stays as it is. Slow to write byte by byte: only for what is complete.
 */
function allocate(bytes: number): Buffer {
  if (bytes < mappedBytes) return Buffer.allocUnsafeSlow(bytes)
  const Mapped = ArrayBuffer as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer
  return Buffer.from(new Mapped(bytes, { maxByteLength: bytes }))
}
