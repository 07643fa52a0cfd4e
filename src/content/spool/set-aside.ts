// Files of the state folder that were damaged and are set aside: named until a person has read of them, and never deleted.

import { join } from 'node:path'
import type { Disk } from '../../world/disk.ts'
import { namesIn } from './names-in.ts'

const aside = '.damaged-'

/** Returns the damaged files that the person has not dismissed. */
export function filesSetAside(stateDir: string, disk: Disk): string[] {
  return namesIn(stateDir, disk)
    .filter((name) => name.includes(aside) && !name.endsWith('-wal'))
    .map((name) => join(stateDir, name))
}

/** Renames the files, so that `filesSetAside` no longer finds them. Returns their new paths. Throws the disk's errors. */
export function dismissSetAside(stateDir: string, disk: Disk): string[] {
  const files = filesSetAside(stateDir, disk)
  return files.map((file) => {
    const kept = file.replace(aside, '.dismissed-')
    for (const part of ['-wal', ''])
      if (disk.existsSync(file + part)) disk.renameSync(file + part, kept + part)
    return kept
  })
}
