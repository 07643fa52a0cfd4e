// Copies the first bytes of a document, or all of it, into an open file, as a partial write needs before it can begin.

import type { Disk } from '../../world/disk.ts'
import type { Block } from '../block.ts'
import type { Reading } from './reader.ts'

const stepBytes = 1024 * 1024

/** Returns the bytes copied: `length`, or fewer at the document's end. Throws the errors of reading, and the system's. */
export async function copyOut(
  reading: Reading,
  length: number,
  { fd, disk }: { fd: number; disk: Disk },
  signal: AbortSignal,
): Promise<number> {
  const read = async (offset: number, bytes: number): Promise<Block> => {
    signal.throwIfAborted()
    return await reading.read(offset, bytes, { signal })
  }
  return await handOut(read, length, async (pieces, offset) => {
    const bytes = bytesIn(pieces)
    const { bytesWritten } = await disk.writev(fd, [...pieces], offset)
    if (bytesWritten < bytes)
      throw Object.assign(new Error('ENOSPC: the disk took only a part'), { code: 'ENOSPC' })
  })
}

/** Reads a document in steps, and hands each to `take`. Returns the bytes read: `length`, or fewer where `read` has no more. */
export async function handOut(
  read: (offset: number, bytes: number) => Promise<Block>,
  length: number,
  take: (pieces: Block, offset: number) => Promise<void> | void,
): Promise<number> {
  let offset = 0
  while (offset < length) {
    const pieces = await read(offset, Math.min(stepBytes, length - offset))
    const bytes = bytesIn(pieces)
    if (bytes === 0) break
    await take(pieces, offset)
    offset += bytes
  }
  return offset
}

function bytesIn(pieces: Block): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
