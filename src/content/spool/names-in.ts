// Names in a folder that may be missing.

import type { Disk } from '../../world/disk.ts'

/** Returns the names; none where the folder cannot be read. */
export function namesIn(folder: string, disk: Disk): string[] {
  try {
    return disk.readdirSync(folder)
  } catch {
    return []
  }
}
