// Check of files that grow far past their end. The hole costs nothing until all of it is read, sent and kept: a size that can
// never be stored is refused at the call, while the program still gets the error.

import type { Spool } from '../../content/spool/spool.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Disk } from '../../world/disk.ts'
import type { Node } from '../tree/node.ts'

export interface HoleParts {
  readonly spool: Spool
  readonly disk: Disk
  readonly refusedBytes: () => number
}

/** Growth that is no hole: writes that a program makes in order may arrive in another one, at most this far apart. */
const farBytes = 16 * 1024 * 1024

/** Throws EFBIG for a size that leaves a hole, and that the service was found to refuse, or this machine's disk cannot hold. */
export function checkHole({ spool, disk, refusedBytes }: HoleParts, node: Node, size: number): void {
  // An unknown size is checked when the content is here.
  if (node.size === undefined || size - node.size <= farBytes) return
  const refused = refusedBytes()
  if (size >= refused)
    throw new ErrnoError('EFBIG', `${node.path}: ${size} bytes, and the service refuses ${refused}`)
  const total = diskSize(spool.dir, disk)
  if (size > total)
    throw new ErrnoError('EFBIG', `${node.path}: ${size} bytes, and the disk of ${spool.dir} has ${total}`)
}

/** Returns the bytes of the whole disk, used or free; Infinity if it does not tell. */
function diskSize(folder: string, disk: Disk): number {
  try {
    const { blocks, bsize } = disk.statfsSync(folder)
    return blocks > 0 ? blocks * bsize : Infinity
  } catch {
    return Infinity
  }
}
