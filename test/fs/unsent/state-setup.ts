// A filesystem object whose state folder is damaged between an end and a start.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { useRestartedFileSystem, type RestartedFileSystem } from '../../support/restarted-file-system.ts'

export function useState(): RestartedFileSystem {
  return useRestartedFileSystem({ closeWaitMs: 200 })
}

/** The file of the spool with content that was saved for this path. */
export function spoolFile(stateDir: string, path: string): string {
  const folder = join(stateDir, 'spool')
  const info = readdirSync(folder).find(
    (name) =>
      name.endsWith('.json') &&
      (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { path: string }).path === path,
  )
  if (info === undefined) throw new Error(`nothing in the spool is of ${path}`)
  return join(folder, info.slice(0, -'.json'.length))
}
