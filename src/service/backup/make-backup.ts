// A backup while the service runs, without asking it: first the database as of one moment, then every content it refers to.
// A content that is gone by then was deleted since; a newer moment is taken, and what was copied already stays. The folder
// gets its name when everything in it has been read back. A content that is damaged is told of, and keeps nothing else from it.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isDamage } from '../store/connection.ts'
import { embeddedSchema } from '../store/open-embedded.ts'
import { copyReadBack, copyVerified } from './copy-file.ts'
import {
  BackupError,
  type DamagedContent,
  type Manifest,
  contentPath,
  databaseName,
  digestOf,
  secretName,
  syncFolder,
  writeManifest,
} from './manifest.ts'
import { makeFolder } from './new-folder.ts'
import { type SnapshotContents, documentsOf, readSnapshot, takeSnapshot } from './snapshot.ts'

/** Moments taken at most, when documents are deleted faster than copied. */
const maxMoments = 50
/** The database forgets a document before its content goes: what later moments name again, and is not there, is lost. */
const mostMisses = 3

/**
 * Makes the folder `destination` a backup of `dataDir`; what it calls damaged is kept as it is, where it can be read. Throws a
 * BackupError, or a StartError for a newer database, with nothing left under that name.
 */
export async function makeBackup(dataDir: string, destination: string): Promise<Manifest> {
  return makeFolder(resolve(destination), (partial) => fillBackup(dataDir, partial))
}

async function fillBackup(dataDir: string, partial: string): Promise<Manifest> {
  await embeddedSchema(dataDir).catch((error: unknown) => {
    // Damage is told below.
    if (!isDamage(error)) throw error
  })
  await mkdir(join(partial, 'blobs'), { mode: 0o700 })
  const copies: Copies = { kept: new Map(), missed: new Map() }
  const snapshot = await copyMoment(dataDir, partial, copies)
  await dropUnused(partial, snapshot)
  const secret = await digestOf(join(dataDir, secretName))
  await copyVerified(join(dataDir, secretName), join(partial, secretName), secret)
  const { projects, documents, contents } = snapshot
  const damaged = damagedOf(join(partial, databaseName), snapshot, copies)
  const manifest: Manifest = {
    format: 1,
    made_at: new Date().toISOString(),
    projects,
    documents,
    contents: contents.size,
    bytes: [...contents.values()].reduce((sum, size) => sum + size, 0),
    digests: { [databaseName]: await digestOf(join(partial, databaseName)), [secretName]: secret },
    ...(damaged.length === 0 ? {} : { damaged }),
  }
  await syncFolder(join(partial, 'blobs'))
  await writeManifest(partial, manifest)
  return manifest
}

interface Copies {
  /** SHA-256 of what there is of each content; undefined where nothing could be read. */
  readonly kept: Map<string, string | undefined>
  /** In how many moments a content was named, and not there. */
  readonly missed: Map<string, number>
}

async function copyMoment(dataDir: string, partial: string, copies: Copies): Promise<SnapshotContents> {
  for (let moment = 1; moment <= maxMoments; moment++) {
    await takeSnapshot(join(dataDir, databaseName), join(partial, databaseName))
    const snapshot = readSnapshot(join(partial, databaseName))
    if (await copyContents(dataDir, partial, snapshot, copies)) return snapshot
  }
  throw new BackupError('documents are deleted faster than copied')
}

/** False when one was not there, and may have been deleted since. */
async function copyContents(
  dataDir: string,
  partial: string,
  { contents }: SnapshotContents,
  { kept, missed }: Copies,
): Promise<boolean> {
  const folders = new Set<string>()
  let isWhole = true
  for (const sha256 of contents.keys()) {
    if (kept.has(sha256)) continue
    const target = join(partial, 'blobs', contentPath(sha256))
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    try {
      kept.set(sha256, await copyReadBack(join(dataDir, 'blobs', contentPath(sha256)), target))
      folders.add(dirname(target))
    } catch (error) {
      if (error instanceof BackupError) throw error
      const misses = (missed.get(sha256) ?? 0) + 1
      missed.set(sha256, misses)
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (isMissing && misses < mostMisses) isWhole = false
      else kept.set(sha256, undefined)
    }
  }
  for (const folder of folders) await syncFolder(folder)
  return isWhole
}

function damagedOf(
  database: string,
  { contents, damaged }: SnapshotContents,
  { kept }: Copies,
): DamagedContent[] {
  const inFiles = [...contents.keys()].filter((sha256) => kept.get(sha256) !== sha256)
  return [...inFiles, ...damaged].map((sha256) => {
    const found = kept.get(sha256)
    return {
      sha256,
      ...(found === undefined ? {} : { kept_sha256: found }),
      documents: documentsOf(database, sha256),
    }
  })
}

// What an earlier moment had and the last one has not.
async function dropUnused(partial: string, { contents }: SnapshotContents): Promise<void> {
  for (const entry of await readdir(join(partial, 'blobs'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && !contents.has(entry.name)) await rm(join(entry.parentPath, entry.name))
  }
}
