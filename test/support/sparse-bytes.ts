// The bytes of one file in memory, in chunks. Holes take no memory, so that files can be larger than 4 GiB.

const chunkBytes = 128 * 1024

const zeros = new Uint8Array(chunkBytes)

/** A growable, sparse sequence of bytes. */
export class SparseBytes {
  size = 0
  readonly #chunks = new Map<number, Uint8Array>()

  /** Returns views of the range, clipped to the file's size, in order. They are valid until the next change. */
  read(offset: number, length: number): Uint8Array[] {
    const end = Math.min(this.size, offset + length)
    const views: Uint8Array[] = []
    for (let at = offset; at < end;) {
      const index = Math.floor(at / chunkBytes)
      const from = at - index * chunkBytes
      const to = Math.min(chunkBytes, from + end - at)
      const chunk = this.#chunks.get(index) ?? zeros
      if (chunk.length > from) views.push(chunk.subarray(from, Math.min(to, chunk.length)))
      if (chunk.length < to) views.push(zeros.subarray(Math.max(from, chunk.length), to))
      at += to - from
    }
    return views
  }

  write(offset: number, data: Uint8Array): void {
    for (let done = 0; done < data.length;) {
      const at = offset + done
      const index = Math.floor(at / chunkBytes)
      const from = at - index * chunkBytes
      const count = Math.min(chunkBytes - from, data.length - done)
      this.#chunkOf(index, from + count).set(data.subarray(done, done + count), from)
      done += count
    }
    this.size = Math.max(this.size, offset + data.length)
  }

  truncate(size: number): void {
    if (size < this.size) {
      const last = Math.floor(size / chunkBytes)
      for (const index of this.#chunks.keys()) if (index > last) this.#chunks.delete(index)
      this.#chunks.get(last)?.fill(0, size - last * chunkBytes)
    }
    this.size = size
  }

  #chunkOf(index: number, length: number): Uint8Array {
    const chunk = this.#chunks.get(index)
    if (chunk !== undefined && chunk.length >= length) return chunk
    // Only the first chunk grows with its content, so that small files take little memory.
    const capacity = index > 0 ? chunkBytes : Math.min(chunkBytes, Math.max(length, (chunk?.length ?? 0) * 2))
    const grown = new Uint8Array(capacity)
    if (chunk !== undefined) grown.set(chunk)
    this.#chunks.set(index, grown)
    return grown
  }
}
