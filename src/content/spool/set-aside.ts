// Files of the state folder that were damaged and are set aside: named until a person has read of them, and never deleted.

import { join } from 'node:path'
import type { Disk } from '../../world/disk.ts'
import { namesIn } from './names-in.ts'

const aside = '.damaged-'

/** Those that nobody has dismissed. */
export function filesSetAside(stateDir: string, disk: Disk): string[] {
  return namesIn(stateDir, disk)
    .filter((name) => name.includes(aside) && !name.endsWith('-wal'))
    .map((name) => join(stateDir, name))
}

/** They stay where they are, under names that are not looked for. Answers those. Throws what the disk answers. */
export function dismissSetAside(stateDir: string, disk: Disk): string[] {
  const files = filesSetAside(stateDir, disk)
  return files.map((file) => {
    const kept = file.replace(aside, '.dismissed-')
    for (const part of ['-wal', ''])
      if (disk.existsSync(file + part)) disk.renameSync(file + part, kept + part)
    return kept
  })
}
