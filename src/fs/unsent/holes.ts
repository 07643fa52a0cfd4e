// A file that grows far past its end grows by a hole, which costs nothing until all of it is read, sent and kept: what can never
// be is refused where the program still hears of it.

import type { Spool } from '../../content/spool/spool.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Disk } from '../../world/disk.ts'
import type { Node } from '../tree/node.ts'

export interface HoleParts {
  readonly spool: Spool
  readonly disk: Disk
  readonly refusedBytes: () => number
}

/** Writes that a program makes in order may arrive in another one, so far apart at most. */
const farBytes = 16 * 1024 * 1024

/** Throws EFBIG for a length that leaves a hole, and that the service was found to refuse, or this machine's disk cannot hold. */
export function checkHole({ spool, disk, refusedBytes }: HoleParts, node: Node, size: number): void {
  // Not told yet: it is looked at again when the content is here.
  if (node.size === undefined || size - node.size <= farBytes) return
  const refused = refusedBytes()
  if (size >= refused)
    throw new ErrnoError('EFBIG', `${node.path}: ${size} bytes, and the service refuses ${refused}`)
  const room = capacity(spool.dir, disk)
  if (size > room)
    throw new ErrnoError('EFBIG', `${node.path}: ${size} bytes, and the disk of ${spool.dir} has ${room}`)
}

/** Bytes of the whole disk, taken or free; what does not tell has no bounds. */
function capacity(folder: string, disk: Disk): number {
  try {
    const { blocks, bsize } = disk.statfsSync(folder)
    return blocks > 0 ? blocks * bsize : Infinity
  } catch {
    return Infinity
  }
}
