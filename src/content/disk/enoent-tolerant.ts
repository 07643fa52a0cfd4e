// File calls for which a missing file is no error, because a cache folder may be deleted at any time.

import type { Disk } from '../../world/disk.ts'

/** Removes a file, if it exists. Throws the system's other errors. */
export async function unlinkIfThere(path: string, disk: Pick<Disk, 'unlink'>): Promise<void> {
  await disk.unlink(path).catch(ignoreMissing)
}

/** Returns undefined for ENOENT, and rethrows any other error. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
