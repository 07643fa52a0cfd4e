// Figures of `df`. The service tells no quota. Documents are first saved on this machine, so the space of the drive is that of
// its disk: the free space, and the space of what is only cached on the same disk (`control/make-room.ts`).

import type { Disk } from '../../world/disk.ts'
import { nameMaxBytes } from '../../path.ts'
import type { World } from '../../world/world.ts'
import type { FilesystemStatistics } from '../operations.ts'

const blockSizeBytes = 4096
/** Age up to which the figures are reused: file managers ask often. */
const freshForMs = 1_000
/** Free blocks shown if the disk does not tell them: 1 TiB, enough for every program. */
const blocksIfUnknown = 2 ** 28

/** Returns a function that tells the disk space. `givableBytes`: bytes that the cache would free if the disk were full. */
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
      // File managers would hide a drive of size 0, also when its disk is merely full.
      blocks: Math.max(1, blocks),
      blocksFree: blocks,
      // The service tells no limit of files: as on btrfs, none is shown.
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
    return blocksIfUnknown
  }
}
