// Disk space that documents take in the cache. Pure arithmetic.

import { blockSizeBytes } from '../extent.ts'
import { segmentBlocks } from './stored-version.ts'

const allocationBytes = 4096
/** Disk space of a file beside its blocks: the page of its table, and one that the filesystem may need for scattered blocks. */
export const overheadBytes: number = 2 * allocationBytes

/** Bytes that so much data takes on disk. */
export function allocated(bytes: number): number {
  return Math.ceil(bytes / allocationBytes) * allocationBytes
}

/** Bytes that the files of a document of this size take on disk at least, once all of its blocks are here. */
export function fullBytesOf(sizeBytes: number): number {
  return allocated(sizeBytes) + segmentsOf(sizeBytes) * allocationBytes
}

/** Bytes that a document of this size takes in the disk cache, at most. */
export function diskBytesOf(sizeBytes: number): number {
  return allocated(sizeBytes) + segmentsOf(sizeBytes) * overheadBytes
}

function segmentsOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / (segmentBlocks * blockSizeBytes))
}
