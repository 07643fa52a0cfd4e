// The manifest makes a folder a whole backup. It is written last, so a backup that was cut off by a crash has none.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseJson } from '../../parse-json.ts'
import { syncFolder } from '../../write-whole.ts'
import { StartError } from '../start-error.ts'

/** A backup that cannot be made or used, in one sentence. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

export interface Manifest {
  readonly format: 1
  /** ISO 8601. */
  readonly made_at: string
  readonly projects: number
  readonly documents: number
  /** Contents kept as files, and their bytes. */
  readonly contents: number
  readonly bytes: number
  /** Of those contents, how many are files of the backup before, under a second name; absent where none is. */
  readonly linked?: number
  /** SHA-256, hexadecimal, by name. Contents bear theirs as their name. */
  readonly digests: Readonly<Record<string, string>>
  /** Absent where all is well. */
  readonly damaged?: readonly DamagedContent[]
}

/** A content that was not what its hash says when the backup was made, or could not be read. */
export interface DamagedContent {
  readonly sha256: string
  /** SHA-256 of the bytes that are kept in its place; absent where there are none. */
  readonly kept_sha256?: string
  /** Whose content it is: PROJECT/PATH of files, PROJECT: NAME of documents in storage tables. */
  readonly documents: readonly string[]
}

/** `kept`: SHA-256 of what there is of it; undefined where nothing could be read. */
export function damagedContent(
  sha256: string,
  kept: string | undefined,
  documents: readonly string[],
): DamagedContent {
  return { sha256, ...(kept === undefined ? {} : { kept_sha256: kept }), documents }
}

export const manifestName = 'backup.json'
/** The files beside the contents. */
export const databaseName = 'service.db'
export const secretName = 'download-secret'

/** Throws a StartError for a backup: what serves or administers it changes it, and it can never be restored then. */
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

/** From then on the folder is no backup. */
export async function dropManifest(folder: string): Promise<void> {
  await rm(join(folder, manifestName), { force: true })
  await syncFolder(folder)
}

/** As text, with the newline at its end. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** Throws a BackupError where there is none, a damaged one, or one this version cannot read. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch((error: unknown) => {
    throw new BackupError(`${folder} is no whole backup: it has no ${manifestName}`, { cause: error })
  })
  return parseManifest(text, folder)
}

/** `place`: what the message calls the backup. Throws a BackupError for a damaged one, or one this version cannot read. */
export function parseManifest(text: string, place: string): Manifest {
  const manifest = (parseJson(text) ?? {}) as Partial<Manifest>
  const { format, digests } = manifest
  if (format !== undefined && format !== 1)
    throw new BackupError(`${place} was made by a version this one does not know: format ${String(format)}`)
  if (format === undefined || digests === undefined)
    throw new BackupError(`${place} is damaged: its ${manifestName} is not whole`)
  return manifest as Manifest
}

/** SHA-256 of a file, as it is read back. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** `ab/<sha256>`, as the service keeps contents. */
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
