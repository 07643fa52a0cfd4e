// The names in a folder of the state that may not be there.

import type { Disk } from '../../world/disk.ts'

/** None where it cannot be read. */
export function namesIn(folder: string, disk: Disk): string[] {
  try {
    return disk.readdirSync(folder)
  } catch {
    return []
  }
}
