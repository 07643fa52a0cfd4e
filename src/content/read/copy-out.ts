// Copies a document's beginning, or all of it, into an open file: what a partial write needs before it can begin.

import type { Disk } from '../../world/disk.ts'
import type { Reading } from './reader.ts'

const stepBytes = 1024 * 1024

/** Bytes copied: `length`, or fewer at the end of the document. Throws what reading throws, and the system's errors. */
export async function copyOut(
  reading: Reading,
  length: number,
  { fd, disk }: { fd: number; disk: Disk },
  signal: AbortSignal,
): Promise<number> {
  let offset = 0
  while (offset < length) {
    signal.throwIfAborted()
    const pieces = await reading.read(offset, Math.min(stepBytes, length - offset), { signal })
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (bytes === 0) break
    const { bytesWritten } = await disk.writev(fd, [...pieces], offset)
    if (bytesWritten < bytes)
      throw Object.assign(new Error('ENOSPC: the disk took only a part'), { code: 'ENOSPC' })
    offset += bytes
  }
  return offset
}
