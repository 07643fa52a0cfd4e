// Division of the memory that a drive may take: listings, nodes that the door holds, and versions that were shown.

import { ErrnoError } from '../../errno-error.ts'

const mebibyte = 1024 ** 2
/** Memory of a drive if no option tells it. */
export const defaultMemoryBytes: number = 512 * mebibyte
/** Least memory that a drive works with. */
export const leastMemoryBytes: number = 192 * mebibyte
/** Memory of the program itself, with the buffers of transfers. */
const programBytes = 128 * mebibyte
/** Memory of a node with its record and its table entries: measured, about 900 bytes. */
const nodeBytes = 1024

/** Most documents whose shown version is remembered, about 400 bytes each. */
const mostShown = 100_000

export interface MemoryShares {
  /** Bytes of packed listings. */
  readonly listingBytes: number
  /** Documents and folders that the door may hold before it is asked to forget some. */
  readonly nodes: number
  /** Documents whose shown version is remembered. */
  readonly shown: number
}

/** Throws EINVAL for less than 192 MiB. More than half of what the program leaves stays free, for transfers and garbage. */
export function sharesOf(memoryBytes: number): MemoryShares {
  if (!(memoryBytes >= leastMemoryBytes))
    throw new ErrnoError('EINVAL', `a drive takes at least ${leastMemoryBytes / mebibyte} MiB of memory`)
  const free = memoryBytes - programBytes
  const nodes = Math.floor(free / 8 / nodeBytes)
  return { listingBytes: Math.floor((free * 5) / 16), nodes, shown: Math.min(mostShown, nodes * 2) }
}
