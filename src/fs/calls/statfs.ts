// Figures of `df`. The service tells no quota, so nothing is made up: what is saved is first kept on this machine, and
// the room it has there is the drive's: what is free, and what is only cached on the same disk (`control/make-room.ts`).

import type { Disk } from '../../world/disk.ts'
import { nameMaxBytes } from '../../path.ts'
import type { World } from '../../world/world.ts'
import type { FilesystemStatistics } from '../operations.ts'

const blockSizeBytes = 4096
/** File managers ask often. */
const freshForMs = 1_000
/** Where the disk does not tell: enough for every program, 1 TiB. */
const untold = 2 ** 28

/** Answers the room for what is saved, all of it free. `givableBytes`: what would make room on that disk, were it full. */
export function statfsOf(
  stateDir: string,
  { clock, disk }: Pick<World, 'clock' | 'disk'>,
  givableBytes: () => number = () => 0,
): () => FilesystemStatistics {
  let known: { blocks: number; at: number } | undefined
  return () => {
    if (known === undefined || clock.steady() - known.at > freshForMs)
      known = { blocks: blocksFree(stateDir, disk, givableBytes()), at: clock.steady() }
    const { blocks } = known
    return {
      blockSizeBytes,
      // A size of nothing would hide a drive whose disk is full.
      blocks: Math.max(1, blocks),
      blocksFree: blocks,
      // The service tells no bound: as btrfs does, none is shown.
      files: 0,
      filesFree: 0,
      nameMax: nameMaxBytes,
    }
  }
}

function blocksFree(folder: string, disk: Disk, givableBytes: number): number {
  try {
    const { bavail, bsize } = disk.statfsSync(folder)
    return Math.floor((bavail * bsize + givableBytes) / blockSizeBytes)
  } catch {
    return untold
  }
}
