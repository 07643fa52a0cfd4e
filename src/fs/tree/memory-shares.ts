// How the memory a drive may take is divided: what is kept of listings, and of the documents and folders the door holds.

import { ErrnoError } from '../../errno-error.ts'

const mebibyte = 1024 ** 2
/** Where nothing is said. */
export const defaultMemoryBytes: number = 512 * mebibyte
/** The least a drive works with. */
export const leastMemoryBytes: number = 192 * mebibyte
/** The program itself, with the buffers of transfers. */
const programBytes = 128 * mebibyte
/** A node with its record, and its places in the tables: measured, about 900. */
const nodeBytes = 1024

/** About 400 bytes each. */
const mostShown = 100_000

export interface MemoryShares {
  /** Bytes of packed listings. */
  readonly listingBytes: number
  /** Documents and folders the door may hold before it is asked to let go of some. */
  readonly nodes: number
  /** Documents of which is known which version was shown. */
  readonly shown: number
}

/** Throws EINVAL for less than 192 MiB. More than half of what the program leaves stays free: for what is on its way, and for garbage. */
export function sharesOf(memoryBytes: number): MemoryShares {
  if (!(memoryBytes >= leastMemoryBytes))
    throw new ErrnoError('EINVAL', `a drive takes at least ${leastMemoryBytes / mebibyte} MiB of memory`)
  const free = memoryBytes - programBytes
  const nodes = Math.floor(free / 8 / nodeBytes)
  return { listingBytes: Math.floor((free * 5) / 16), nodes, shown: Math.min(mostShown, nodes * 2) }
}
