// Random access to content whose type is to be recognised, without all of it in memory.

/** A file, a spooled content, or bytes in memory. */
export interface ReadableContent {
  /** Bytes. */
  readonly size: number
  /** Returns `length` bytes from `offset`: fewer at the end, none beyond it. */
  read(offset: number, length: number): Uint8Array | Promise<Uint8Array>
}

export const noContent: ReadableContent = { size: 0, read: () => new Uint8Array() }

/** Returns bytes in memory as content. */
export function contentOfBytes(bytes: Uint8Array): ReadableContent {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) }
}

/** Reads bytes as a Buffer, without a copy. */
export async function bufferAt(content: ReadableContent, offset: number, length: number): Promise<Buffer> {
  const { buffer, byteOffset, byteLength } = await content.read(offset, length)
  return Buffer.from(buffer, byteOffset, byteLength)
}
