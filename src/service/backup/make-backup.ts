// Makes a backup in a folder, also while the service runs: first a snapshot of the database, then every content to which it
// refers. The folder gets its name when everything in it has been read back. Damaged contents are listed in the manifest, and
// do not end the backup. A content that the previous backup has is not copied but hard-linked.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from '../../write-whole.ts'
import { copyReadBack, copyVerified, linkVerified } from './copy-file.ts'
import { listFolder } from './folder-backups.ts'
import { type Manifest, contentPath, databaseName, digestOf, secretName, writeManifest } from './manifest.ts'
import { type ContentKeeper, keepMoment, manifestOf } from './moment.ts'
import { makeFolder } from './new-folder.ts'

/**
 * Makes a backup of `dataDir` in the new folder `destination`; damaged contents are copied as they are, if they can be read.
 * Contents of the latest other backup in the same folder are hard-linked. Throws a BackupError, or a StartError for a newer
 * database; `destination` does not exist then.
 */
export async function makeBackup(dataDir: string, destination: string): Promise<Manifest> {
  const target = resolve(destination)
  const others = await listFolder(dirname(target))
  const previous = others.find(({ name }) => name !== basename(target))
  return makeFolder(target, (partial) =>
    fillBackup(dataDir, partial, previous === undefined ? undefined : join(dirname(target), previous.name)),
  )
}

async function fillBackup(dataDir: string, partial: string, before: string | undefined): Promise<Manifest> {
  await mkdir(join(partial, 'blobs'), { mode: 0o700 })
  const database = join(partial, databaseName)
  const keeper = new FolderKeeper(join(partial, 'blobs'), before)
  const moment = await keepMoment(dataDir, database, keeper)
  await dropUnused(partial, moment.snapshot.contents)
  const secret = await digestOf(join(dataDir, secretName))
  await copyVerified(join(dataDir, secretName), join(partial, secretName), secret)
  const digests = { [databaseName]: await digestOf(database), [secretName]: secret }
  const manifest = manifestOf(database, moment, digests)
  await syncFolder(join(partial, 'blobs'))
  await writeManifest(partial, manifest)
  return manifest
}

/** Keeps contents as files `ab/<sha256>` below `blobs`. */
class FolderKeeper implements ContentKeeper {
  readonly already = new Set<string>()
  readonly #blobs: string
  readonly #before: string | undefined
  readonly #folders = new Set<string>()

  constructor(blobs: string, before: string | undefined) {
    this.#blobs = blobs
    this.#before = before
  }

  async keep(sha256: string, file: string): Promise<string> {
    const target = join(this.#blobs, contentPath(sha256))
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    this.#folders.add(dirname(target))
    if (this.#before !== undefined) {
      const known = join(this.#before, 'blobs', contentPath(sha256))
      if (await linkVerified(known, target, sha256)) {
        this.already.add(sha256)
        return sha256
      }
    }
    return copyReadBack(file, target)
  }

  async sync(): Promise<void> {
    for (const folder of this.#folders) await syncFolder(folder)
    this.#folders.clear()
  }
}

// Removes contents to which an earlier snapshot referred and the last one does not.
async function dropUnused(partial: string, contents: ReadonlyMap<string, number>): Promise<void> {
  for (const entry of await readdir(join(partial, 'blobs'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && !contents.has(entry.name)) await rm(join(entry.parentPath, entry.name))
  }
}
