// A folder that gets its name when it is whole: `NAME.partial` until then. What a crash left is begun anew.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { BackupError, databaseName, secretName } from './manifest.ts'

const own = new Set([
  databaseName,
  `${databaseName}-wal`,
  `${databaseName}-shm`,
  `${databaseName}-journal`,
  'blobs',
  secretName,
  'backup.json',
])

/** Makes an empty `target.partial`. Throws a BackupError when `target` holds anything, or the other is not ours. */
export async function newFolder(target: string): Promise<string> {
  const names = await namesIn(target)
  if (names !== undefined && names.length > 0) throw new BackupError(`${target} is there already`)
  const partial = `${target}.partial`
  const left = (await namesIn(partial)) ?? []
  const foreign = left.find((name) => !own.has(name))
  if (foreign !== undefined)
    throw new BackupError(`${partial} is in the way, and no unfinished copy: it holds ${foreign}`)
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true, mode: 0o700 })
  return partial
}

/** Undefined where there is no such folder. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  return readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
}
