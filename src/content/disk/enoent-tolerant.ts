// A cache folder may be deleted at any time: what is gone already is no error.

import type { Disk } from '../../world/disk.ts'

/** Throws the system's errors, but for a file that is not there. */
export async function unlinkIfThere(path: string, disk: Pick<Disk, 'unlink'>): Promise<void> {
  await disk.unlink(path).catch(ignoreMissing)
}

/** Rethrows whatever else the disk says. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
