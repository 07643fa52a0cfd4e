// Where backups lie: a folder, or a bucket (`s3://BUCKET/PREFIX?endpoint=URL`). Each backup has a name in it.

import { mkdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type FoundBackup, listFolder, removeFrom, removeUnfinished } from './folder-backups.ts'
import { makeBackup } from './make-backup.ts'
import { BackupError, type Manifest } from './manifest.ts'

export interface BackupPlace {
  /** Whole ones, the latest first. */
  list(): Promise<FoundBackup[]>
  /** Contents that the latest backup has already are not copied again. Throws a BackupError, with no backup of that name. */
  make(dataDir: string, name: string): Promise<Manifest>
  remove(names: readonly string[]): Promise<void>
}

/** Throws a StartError on a wrong address of a bucket. */
export async function openPlace(to: string): Promise<BackupPlace> {
  if (isBucket(to)) return (await import('./bucket-backups.ts')).BucketBackups.open({ url: to })
  return {
    list: () => listFolder(to),
    make: async (dataDir, name) => {
      await mkdir(to, { recursive: true, mode: 0o700 })
      await removeUnfinished(to)
      return makeBackup(dataDir, join(to, name))
    },
    remove: async (names) => {
      for (const name of names) await removeFrom(to, name)
    },
  }
}

export function isBucket(to: string): boolean {
  return to.startsWith('s3:')
}

/** Where a backup lies, and what it is called there: the last name of the path. Throws a BackupError where it has none. */
export function placeOf(backup: string): { to: string; name: string } {
  if (!isBucket(backup)) return { to: dirname(resolve(backup)), name: basename(resolve(backup)) }
  const [, before = '', name = '', query = ''] = /^(s3:\/\/[^?]+)\/([\w.+-]+)\/*(\?.*)?$/.exec(backup) ?? []
  if (name === '' || name === 'contents')
    throw new BackupError('a backup in a bucket has a name: s3://BUCKET/PREFIX/NAME?endpoint=URL')
  return { to: `${before}${query}`, name }
}
