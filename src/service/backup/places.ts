// Places for backups: a folder, or a bucket (`s3://BUCKET/PREFIX?endpoint=URL`). Each backup has a name in it.

import { mkdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type FoundBackup, listFolder, removeFrom, removeUnfinished } from './folder-backups.ts'
import { makeBackup } from './make-backup.ts'
import { BackupError, type Manifest } from './manifest.ts'

export interface BackupPlace {
  /** Complete backups, the latest first. */
  list(): Promise<FoundBackup[]>
  /** Makes a backup; contents that an earlier one has are not copied again. On a BackupError there is no backup of that name. */
  make(dataDir: string, name: string): Promise<Manifest>
  remove(names: readonly string[]): Promise<void>
}

/** Throws a StartError for a malformed address of a bucket. */
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

/** Splits the path or URL of a backup into its place and its name there. Throws a BackupError for a URL without a name. */
export function placeOf(backup: string): { to: string; name: string } {
  if (!isBucket(backup)) return { to: dirname(resolve(backup)), name: basename(resolve(backup)) }
  const [, before = '', name = '', query = ''] = /^(s3:\/\/[^?]+)\/([\w.+-]+)\/*(\?.*)?$/.exec(backup) ?? []
  if (name === '' || name === 'contents')
    throw new BackupError('a backup in a bucket has a name: s3://BUCKET/PREFIX/NAME?endpoint=URL')
  return { to: `${before}${query}`, name }
}
