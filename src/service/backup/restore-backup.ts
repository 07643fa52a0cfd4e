// Restores a backup to a new data folder, which gets its name when everything has been copied and read back.

import { mkdir, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { syncFolder } from '../../write-whole.ts'
import { isMissing } from '../blobs/disk.ts'
import { copyVerified } from './copy-file.ts'
import {
  BackupError,
  type Manifest,
  contentPath,
  databaseName,
  readManifest,
  secretName,
} from './manifest.ts'
import { makeFolder } from './new-folder.ts'
import { isBucket, placeOf } from './places.ts'
import { readSnapshot } from './snapshot.ts'

/** A backup in a folder or a bucket. Its calls throw a BackupError for a file that is missing, or has another SHA-256. */
interface Source {
  readonly manifest: Manifest
  copyFile(name: string, to: string, sha256: string): Promise<void>
  /** `kept`: SHA-256 of the bytes in the backup, another than `sha256` for a damaged content. */
  copyContent(sha256: string, to: string, kept: string): Promise<void>
}

/** Fills `dataDir`, which is absent or empty; damaged contents stay damaged. On a BackupError `dataDir` is as before. */
export async function restoreBackup(backup: string, dataDir: string): Promise<Manifest> {
  const source = await (isBucket(backup) ? openBucket(backup) : openFolder(backup))
  await makeFolder(resolve(dataDir), (partial) => fillDataDir(backup, source, partial))
  return source.manifest
}

async function openFolder(folder: string): Promise<Source> {
  return {
    manifest: await readManifest(folder),
    copyFile: (name, to, sha256) => copyVerified(join(folder, name), to, sha256),
    copyContent: (sha256, to, kept) =>
      copyVerified(join(folder, 'blobs', contentPath(sha256)), to, kept).catch((error: unknown) => {
        if (!isMissing(error)) throw error
        throw missing(folder, sha256, error)
      }),
  }
}

async function openBucket(backup: string): Promise<Source> {
  const { to: place, name: moment } = placeOf(backup)
  const { BucketBackups, contentKey } = await import('./bucket-backups.ts')
  const bucket = await BucketBackups.open({ url: place })
  const copy = async (key: string, to: string, sha256: string): Promise<void> => {
    const found = await bucket.fetch(key, to)
    if (found === undefined) throw missing(moment, key)
    if (found === sha256) return
    await unlink(to)
    throw new BackupError(`${key} is damaged: its digest is ${found}, and ought to be ${sha256}`)
  }
  const manifest = await bucket.manifest(moment)
  const names = await bucket.contents(moment)
  return {
    manifest,
    copyFile: (name, to, sha256) => copy(`${moment}/${name}`, to, sha256),
    copyContent: (_, to, kept) => copy(contentKey(names.get(kept) ?? kept), to, kept),
  }
}

function missing(backup: string, what: string, cause?: unknown): BackupError {
  return new BackupError(`${backup} is damaged: content ${what} is missing`, { cause })
}

async function fillDataDir(backup: string, source: Source, partial: string): Promise<void> {
  const { manifest } = source
  for (const name of [databaseName, secretName]) {
    const digest = manifest.digests[name]
    if (digest === undefined)
      throw new BackupError(`${backup} is damaged: backup.json tells no digest of ${name}`)
    await source.copyFile(name, join(partial, name), digest)
  }
  const { contents } = readSnapshot(join(partial, databaseName))
  const folders = new Set<string>([partial, join(partial, 'blobs')])
  const damaged = new Map(manifest.damaged?.map((content) => [content.sha256, content.kept_sha256]))
  for (const sha256 of contents.keys()) {
    const kept = damaged.has(sha256) ? damaged.get(sha256) : sha256
    if (kept === undefined) continue
    const file = join(partial, 'blobs', contentPath(sha256))
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await source.copyContent(sha256, file, kept)
    folders.add(dirname(file))
  }
  await mkdir(join(partial, 'blobs'), { recursive: true, mode: 0o700 })
  for (const folder of folders) await syncFolder(folder)
}
