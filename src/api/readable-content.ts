// Content as its type is judged: bytes of any place in it, without all of it in memory.

/** A file, a spooled content, or bytes at hand. */
export interface ReadableContent {
  /** Bytes. */
  readonly size: number
  /** At most `length` bytes from `offset`: fewer at the end, none past it. */
  read(offset: number, length: number): Uint8Array | Promise<Uint8Array>
}

export const noContent: ReadableContent = { size: 0, read: () => new Uint8Array() }

/** Bytes at hand as content. */
export function contentOfBytes(bytes: Uint8Array): ReadableContent {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) }
}

/** The same bytes as a Buffer, which reads numbers; not copied. */
export async function bufferAt(content: ReadableContent, offset: number, length: number): Promise<Buffer> {
  const { buffer, byteOffset, byteLength } = await content.read(offset, length)
  return Buffer.from(buffer, byteOffset, byteLength)
}
