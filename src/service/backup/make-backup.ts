// A backup while the service runs, without asking it: first the database as of one moment, then every content it refers to.
// A content that is gone by then was deleted since; a newer moment is taken, and what was copied already stays. The folder
// gets its name when everything in it has been read back.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { copyVerified } from './copy-file.ts'
import {
  BackupError,
  type Manifest,
  contentPath,
  databaseName,
  digestOf,
  secretName,
  syncFolder,
  writeManifest,
} from './manifest.ts'
import { makeFolder } from './new-folder.ts'
import { type SnapshotContents, readSnapshot, takeSnapshot } from './snapshot.ts'

/** Moments taken at most, when documents are deleted faster than copied. */
const maxMoments = 50

/** Makes the folder `destination` a backup of `dataDir`. Throws a BackupError, with nothing left under that name. */
export async function makeBackup(dataDir: string, destination: string): Promise<Manifest> {
  return makeFolder(resolve(destination), (partial) => fillBackup(dataDir, partial))
}

async function fillBackup(dataDir: string, partial: string): Promise<Manifest> {
  await mkdir(join(partial, 'blobs'), { mode: 0o700 })
  const snapshot = await copyMoment(dataDir, partial)
  await dropUnused(partial, snapshot)
  const secret = await digestOf(join(dataDir, secretName))
  await copyVerified(join(dataDir, secretName), join(partial, secretName), secret)
  const { projects, documents, contents } = snapshot
  const manifest: Manifest = {
    format: 1,
    made_at: new Date().toISOString(),
    projects,
    documents,
    contents: contents.size,
    bytes: [...contents.values()].reduce((sum, size) => sum + size, 0),
    digests: { [databaseName]: await digestOf(join(partial, databaseName)), [secretName]: secret },
  }
  await syncFolder(join(partial, 'blobs'))
  await writeManifest(partial, manifest)
  return manifest
}

async function copyMoment(dataDir: string, partial: string): Promise<SnapshotContents> {
  const copied = new Set<string>()
  for (let moment = 1; moment <= maxMoments; moment++) {
    await takeSnapshot(join(dataDir, databaseName), join(partial, databaseName))
    const snapshot = readSnapshot(join(partial, databaseName))
    if (await copyContents(dataDir, partial, snapshot, copied)) return snapshot
  }
  throw new BackupError(
    'contents that the database names are missing, or documents are deleted faster than copied',
  )
}

/** False when one was not there. */
async function copyContents(
  dataDir: string,
  partial: string,
  { contents }: SnapshotContents,
  copied: Set<string>,
): Promise<boolean> {
  const folders = new Set<string>()
  for (const sha256 of contents.keys()) {
    if (copied.has(sha256)) continue
    const target = join(partial, 'blobs', contentPath(sha256))
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    try {
      await copyVerified(join(dataDir, 'blobs', contentPath(sha256)), target, sha256)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
      throw error
    }
    copied.add(sha256)
    folders.add(dirname(target))
  }
  for (const folder of folders) await syncFolder(folder)
  return true
}

// What an earlier moment had and the last one has not.
async function dropUnused(partial: string, { contents }: SnapshotContents): Promise<void> {
  for (const entry of await readdir(join(partial, 'blobs'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && !contents.has(entry.name)) await rm(join(entry.parentPath, entry.name))
  }
}
