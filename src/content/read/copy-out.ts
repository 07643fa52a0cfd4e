// Copies the first bytes of a document, or all of it, into an open file, as a partial write needs before it can begin.

import type { Disk } from '../../world/disk.ts'
import type { Reading } from './reader.ts'

const stepBytes = 1024 * 1024

/** Returns the bytes copied: `length`, or fewer at the document's end. Throws the errors of reading, and the system's. */
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
