// Makes a folder that gets its name when it is complete. Until then it is `NAME.partial`, locked by one process. The next
// attempt empties one that a crash left.

import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../write-whole.ts'
import { StartError } from '../start-error.ts'
import { lockDataDir } from '../store/service-lock.ts'
import { BackupError, databaseName, secretName } from './manifest.ts'

const lockName = 'service.lock'
/** Names that an unfinished folder of ours may have in it. */
const ownNames = new Set([
  databaseName,
  `${databaseName}-wal`,
  `${databaseName}-shm`,
  `${databaseName}-journal`,
  'blobs',
  secretName,
  'backup.json',
  lockName,
])

/**
 * Makes the folder `target`, filled by `fill`. Throws the errors of `fill`, and a BackupError when `target` is not empty, when
 * `NAME.partial` is not ours, or when another process is filling it. `target` is as before then.
 */
export async function makeFolder<Result>(
  target: string,
  fill: (partial: string) => Promise<Result>,
): Promise<Result> {
  const partial = `${target}.partial`
  await checkFree(target)
  const foreign = ((await namesIn(partial)) ?? []).find((name) => !ownNames.has(name))
  if (foreign !== undefined)
    throw new BackupError(`${partial} is in the way, and no unfinished copy: it holds ${foreign}`)
  await mkdir(partial, { recursive: true, mode: 0o700 })
  const unlock = lock(partial)
  try {
    // The process that held the lock until now may have finished the folder.
    await checkFree(target)
    for (const name of (await namesIn(partial)) ?? [])
      if (name !== lockName) await rm(join(partial, name), { recursive: true, force: true })
    const result = await fill(partial)
    await rename(partial, target).catch((error: unknown) => {
      throw isOneOf(error, 'EBUSY', 'EXDEV') ? isMounted(target, error) : error
    })
    await rm(join(target, lockName))
    await syncFolder(target)
    await syncFolder(dirname(target))
    return result
  } finally {
    unlock()
  }
}

async function checkFree(target: string): Promise<void> {
  const names = await namesIn(target)
  if (names === undefined) return
  if (names.length > 0) throw new BackupError(`${target} is there already`)
  if ((await stat(target)).dev !== (await stat(dirname(target))).dev) throw isMounted(target)
}

/** The error for a target that is a mount point, which a rename cannot replace. */
function isMounted(target: string, cause?: unknown): BackupError {
  return new BackupError(`something is mounted at ${target}: name a folder in it`, { cause })
}

function lock(partial: string): () => void {
  try {
    return lockDataDir(partial)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    throw new BackupError(`another copy is on its way to ${partial}: wait for its end`, { cause: error })
  }
}

/** Names in a folder; undefined where there is no such folder. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  return readdir(folder).catch((error: unknown) => {
    if (isOneOf(error, 'ENOENT')) return undefined
    if (isOneOf(error, 'ENOTDIR')) throw new BackupError(`${folder} is no folder`, { cause: error })
    throw error
  })
}

function isOneOf(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
