// A data folder from a backup: everything copied and read back first, then the folder gets its name.

import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { copyVerified } from './copy-file.ts'
import {
  BackupError,
  type Manifest,
  contentPath,
  databaseName,
  readManifest,
  secretName,
  syncFolder,
} from './manifest.ts'
import { makeFolder } from './new-folder.ts'
import { readSnapshot } from './snapshot.ts'

/** Makes `dataDir`, absent or empty, what the backup in `source` holds, damaged contents as they were. Throws a BackupError, with `dataDir` as it was. */
export async function restoreBackup(source: string, dataDir: string): Promise<Manifest> {
  const manifest = await readManifest(source)
  await makeFolder(resolve(dataDir), (partial) => fillDataDir(source, manifest, partial))
  return manifest
}

async function fillDataDir(source: string, manifest: Manifest, partial: string): Promise<void> {
  for (const name of [databaseName, secretName]) {
    const digest = manifest.digests[name]
    if (digest === undefined)
      throw new BackupError(`${source} is damaged: backup.json tells no digest of ${name}`)
    await copyVerified(join(source, name), join(partial, name), digest)
  }
  const { contents } = readSnapshot(join(partial, databaseName))
  const folders = new Set<string>([partial, join(partial, 'blobs')])
  const damaged = new Map(manifest.damaged?.map((content) => [content.sha256, content.kept_sha256]))
  for (const sha256 of contents.keys()) {
    const kept = damaged.has(sha256) ? damaged.get(sha256) : sha256
    if (kept === undefined) continue
    const file = join(partial, 'blobs', contentPath(sha256))
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await copyVerified(join(source, 'blobs', contentPath(sha256)), file, kept).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
      throw new BackupError(`${source} is damaged: content ${sha256} is missing`, { cause: error })
    })
    folders.add(dirname(file))
  }
  await mkdir(join(partial, 'blobs'), { recursive: true, mode: 0o700 })
  for (const folder of folders) await syncFolder(folder)
}
