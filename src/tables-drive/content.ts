// The bytes of one virtual file, in memory.

import { ErrnoError } from '../errno-error.ts'

/** The largest file that may be dropped: its parsed rows take several times as much memory. */
const maxFileBytes: number = 64 * 1024 * 1024

/** Throws EFBIG past 64 MiB. */
export function checkFileSize(size: number): void {
  if (size > maxFileBytes) {
    throw new ErrnoError('EFBIG', `files dropped here are at most ${maxFileBytes} bytes long`)
  }
}

export class Content {
  #buffer: Buffer
  #size: number
  #version = 0

  constructor(bytes: Uint8Array = Buffer.alloc(0)) {
    this.#buffer = Buffer.from(bytes)
    this.#size = bytes.length
  }

  /** Size in bytes. */
  get size(): number {
    return this.#size
  }

  /** Grows with every change: the same number means the same bytes. */
  get version(): number {
    return this.#version
  }

  /** Returns all bytes, without a copy: valid until the next change. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size)
  }

  /** Returns a range of bytes, without a copy: valid until the next change. */
  read(offset: number, length: number): Uint8Array {
    return this.#buffer.subarray(Math.min(offset, this.#size), Math.min(offset + length, this.#size))
  }

  /** Throws EFBIG past 64 MiB. */
  write(offset: number, data: Uint8Array): void {
    this.#reserve(offset + data.length)
    this.#buffer.set(data, offset)
    this.#size = Math.max(this.#size, offset + data.length)
    this.#version++
  }

  /** Cuts the content, or extends it with zeros. Throws EFBIG past 64 MiB. */
  truncate(size: number): void {
    if (size === this.#size) return
    if (size === 0) this.#buffer = Buffer.alloc(0)
    // Zeroed, because a later extension must show zeros.
    else if (size < this.#size) this.#buffer.fill(0, size, this.#size)
    else this.#reserve(size)
    this.#size = size
    this.#version++
  }

  #reserve(size: number): void {
    checkFileSize(size)
    if (size <= this.#buffer.length) return
    const grown = Buffer.alloc(Math.min(maxFileBytes, Math.max(size, 2 * this.#buffer.length)))
    grown.set(this.bytes())
    this.#buffer = grown
  }
}
