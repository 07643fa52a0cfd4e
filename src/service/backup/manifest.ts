// The manifest (`backup.json`) of a backup. It is written last, so a backup that a crash ended has none, and does not count.

import { ExpectedError } from '../../expected-error.ts'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseJson } from '../../parse-json.ts'
import { syncFolder } from '../../write-whole.ts'
import { StartError } from '../start-error.ts'

/** A backup cannot be made or used. The message is one sentence for the user. */
export class BackupError extends ExpectedError {
  override readonly name = 'BackupError'
}

export interface Manifest {
  readonly format: 1
  /** ISO 8601. */
  readonly made_at: string
  readonly projects: number
  readonly documents: number
  /** How many contents are files, and their bytes. */
  readonly contents: number
  readonly bytes: number
  /** How many of those contents are shared with an earlier backup; absent where none is. */
  readonly linked?: number
  /** SHA-256 (hexadecimal) of database and secret, by file name. The name of a content's file is its SHA-256. */
  readonly digests: Readonly<Record<string, string>>
  /** Absent where no content is damaged. */
  readonly damaged?: readonly DamagedContent[]
}

/** A content whose bytes did not have its SHA-256 when the backup was made, or that could not be read. */
export interface DamagedContent {
  readonly sha256: string
  /** SHA-256 of the bytes that the backup has instead; absent where nothing could be read. */
  readonly kept_sha256?: string
  /** The documents with this content: PROJECT/PATH of files, PROJECT: NAME of documents in storage tables. */
  readonly documents: readonly string[]
}

/** `kept`: SHA-256 of the bytes that were found; undefined where nothing could be read. */
export function damagedContent(
  sha256: string,
  kept: string | undefined,
  documents: readonly string[],
): DamagedContent {
  return { sha256, ...(kept === undefined ? {} : { kept_sha256: kept }), documents }
}

export const manifestName = 'backup.json'
/** The other files of a backup and of a data folder, beside the contents. */
export const databaseName = 'service.db'
export const secretName = 'download-secret'

/** Throws a StartError if `dataDir` is a backup: serving or administering it would change it, and it could not be restored. */
export function refuseBackup(dataDir: string): void {
  if (!existsSync(join(dataDir, manifestName))) return
  throw new StartError(
    `${dataDir} is a backup: docmount restore makes a data folder of it, and leaves it as it is`,
  )
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeSynced(join(folder, manifestName), manifestText(manifest))
  await syncFolder(folder)
}

/** Removes the manifest, durably: the folder no longer counts as a backup. */
export async function dropManifest(folder: string): Promise<void> {
  await rm(join(folder, manifestName), { force: true })
  await syncFolder(folder)
}

/** The text of the manifest's file. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** Throws a BackupError for a manifest that is missing, damaged, or of a format that this version does not know. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch((error: unknown) => {
    throw new BackupError(`${folder} is no whole backup: it has no ${manifestName}`, { cause: error })
  })
  return parseManifest(text, folder)
}

/** `place` names the backup in messages. Throws a BackupError for a manifest that is damaged, or of an unknown format. */
export function parseManifest(text: string, place: string): Manifest {
  const manifest = (parseJson(text) ?? {}) as Partial<Manifest>
  const { format, digests } = manifest
  if (format !== undefined && format !== 1)
    throw new BackupError(`${place} was made by a version this one does not know: format ${String(format)}`)
  if (format === undefined || digests === undefined)
    throw new BackupError(`${place} is damaged: its ${manifestName} is not whole`)
  return manifest as Manifest
}

/** SHA-256 of a file, hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** `ab/<sha256>`: the path of a content below `blobs`, in a data folder and in a backup. */
export function contentPath(sha256: string): string {
  return join(sha256.slice(0, 2), sha256)
}

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
