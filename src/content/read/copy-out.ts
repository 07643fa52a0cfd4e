// Copies a document's beginning, or all of it, into an open file: what a partial write needs before it can begin.

import { writev } from 'node:fs'
import { promisify } from 'node:util'
import type { Reading } from './reader.ts'

const writeAll = promisify(writev)
const stepBytes = 1024 * 1024

/** Bytes copied: `length`, or fewer at the end of the document. Throws what reading throws, and the system's errors. */
export async function copyOut(
  reading: Reading,
  length: number,
  fd: number,
  signal: AbortSignal,
): Promise<number> {
  let offset = 0
  while (offset < length) {
    signal.throwIfAborted()
    const pieces = await reading.read(offset, Math.min(stepBytes, length - offset), signal)
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (bytes === 0) break
    const { bytesWritten } = await writeAll(fd, [...pieces], offset)
    if (bytesWritten < bytes)
      throw Object.assign(new Error('ENOSPC: the disk took only a part'), { code: 'ENOSPC' })
    offset += bytes
  }
  return offset
}
