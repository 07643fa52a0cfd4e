// Room that documents take on disk, beside their own bytes. Pure arithmetic.

import { blockSizeBytes } from '../extent.ts'
import { segmentBlocks } from './stored-version.ts'

const allocationBytes = 4096
/** Room that a file may take beside its blocks: the page of the table, and one of the filesystem's own for scattered blocks. */
export const overheadBytes: number = 2 * allocationBytes

/** Bytes that so much data takes on disk. */
export function allocated(bytes: number): number {
  return Math.ceil(bytes / allocationBytes) * allocationBytes
}

/** Bytes that a document of this size takes in the disk cache, at most. */
export function diskBytesOf(sizeBytes: number): number {
  return allocated(sizeBytes) + Math.ceil(sizeBytes / (segmentBlocks * blockSizeBytes)) * overheadBytes
}
