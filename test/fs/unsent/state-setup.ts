// A filesystem object whose state folder is damaged between an end and a start.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { knownIn } from '../../../src/content/spool/known-contents.ts'
import { systemDisk } from '../../../src/world/disk.ts'
import { useRestartedFileSystem, type RestartedFileSystem } from '../../support/restarted-file-system.ts'

export function useState(): RestartedFileSystem {
  return useRestartedFileSystem({ closeWaitMs: 200 })
}

/** The file of the spool with content that was saved for this path. */
export function spoolFile(stateDir: string, path: string): string {
  const folder = join(stateDir, 'spool')
  const found = [...knownIn(folder, readdirSync(folder), systemDisk)].find(
    ([id, info]) => info.path === path && existsSync(join(folder, id)),
  )
  if (found === undefined) throw new Error(`nothing in the spool is of ${path}`)
  return join(folder, found[0])
}
