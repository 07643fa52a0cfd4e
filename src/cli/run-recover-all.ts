// Work of `docmount recover --all`: copies everything that is not with the service, of every drive of this user, whether
// it is mounted or not. Reads state folders only, so that it also works when no daemon does. Changes nothing there.

import { systemDisk } from '../world/disk.ts'
import { constants, statSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { digestOfBytes, isSameDigest } from '../content/digest.ts'
import { readJournal, type JournalContent } from '../content/spool/journal-reading.ts'
import { placeUnder } from '../content/spool/lost-and-found.ts'
import { findStateFolders, type StateFolder } from '../daemon/drive-file.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { findMountOf } from '../daemon/find-mount.ts'
import { readLeftBehind } from '../daemon/left-behind.ts'
import { readOwnRecords, servedStateFolders } from '../daemon/own-records.ts'
import { exitCodes } from './exit-codes.ts'
import { ensureLocalFolder } from './local-folder.ts'
import { printable } from '../printable.ts'
import { type Progress, startProgress } from './progress.ts'

/** One thing to copy, and where it goes below the drive's folder. */
interface Copyable {
  readonly path: string
  readonly write: (target: string) => Promise<unknown>
  /** As far as is known. */
  readonly bytes: number
}

/** Totals of all drives. */
interface Totals {
  count: number
  /** Changes that carry no content of their own. */
  withoutContent: number
}

/** Tells every new file; sets the exit code where something could not be copied. */
export async function runRecoverAll(
  destination: string,
  isQuiet: boolean,
  tell: (file: string) => void,
): Promise<void> {
  const folder = resolve(destination)
  const onDrive = await findMountOf(folder)
  if (onDrive !== undefined)
    throw new DaemonError(`${folder} lies inside the drive ${onDrive.found.mountpoint}; choose another place`)
  const target = await ensureLocalFolder(folder)
  const found: Totals = { count: 0, withoutContent: 0 }
  const served = await servedStateFolders()
  const progress = startProgress('copying', { isQuiet })
  try {
    for (const state of await allStateFolders())
      await copyDrive(state, target, { isServed: served.has(state.stateDir), progress, found, tell })
  } finally {
    progress.end()
  }
  if (found.count > 0) return
  const why =
    found.withoutContent > 0
      ? 'what is not sent has no content on this machine'
      : 'everything is with the service'
  console.error(`docmount: there is nothing to copy: ${why}`)
}

/** Those at the usual place, and those that somebody chose for a drive that is mounted now. */
async function allStateFolders(): Promise<readonly StateFolder[]> {
  const folders = new Map((await findStateFolders()).map((folder) => [folder.stateDir, folder]))
  for (const { stateDir } of await readOwnRecords())
    if (!folders.has(stateDir)) folders.set(stateDir, { stateDir, drive: undefined })
  return [...folders.values()]
}

async function copyDrive(
  { stateDir, drive }: StateFolder,
  destination: string,
  {
    isServed,
    progress,
    found,
    tell,
  }: { isServed: boolean; progress: Progress; found: Totals; tell: (file: string) => void },
): Promise<void> {
  const name = basename(stateDir)
  const pieces = await piecesOf(stateDir, isServed, found)
  progress.expect(pieces.reduce((sum, { bytes }) => sum + bytes, 0))
  for (const piece of pieces) {
    try {
      const file = await placeUnder(join(destination, name), piece.path, systemDisk, piece.write)
      progress.add(piece.bytes)
      progress.beside(() => tell(file))
      found.count++
    } catch (error) {
      const what = `${printable(piece.path)} of ${drive?.mountpoint ?? stateDir}`
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
      // Of a drive that is mounted, content leaves the spool when the service has it.
      if (isGone && isServed) progress.say(`docmount: ${what} has been sent meanwhile`)
      else {
        const why = isGone ? 'its content is not here any more' : (error as Error).message
        progress.say(`docmount: ${what} is not copied: ${why}`)
        process.exitCode = exitCodes.failure
      }
    }
  }
}

async function piecesOf(stateDir: string, isServed: boolean, found: Totals): Promise<Copyable[]> {
  const spoolDir = join(stateDir, 'spool')
  const pieces: Copyable[] = []
  try {
    const journal = readJournal(stateDir)
    if (journal !== undefined) pieces.push(...journaledPieces(journal, spoolDir, stateDir, found))
  } catch (error) {
    // Files of the spool are copied all the same.
    console.error(`docmount: ${stateDir}: ${(error as Error).message}`)
    process.exitCode = exitCodes.failure
  }
  const { lost } = await readLeftBehind(stateDir)
  for (const { file, path, name, bytes } of lost) {
    // Of a drive that is mounted, what no row names is being written at this moment.
    if (isServed && dirname(file) === spoolDir) continue
    pieces.push({
      path: join('lost+found', path ?? name),
      bytes,
      write: (target) => copyFile(file, target, constants.COPYFILE_EXCL),
    })
  }
  return pieces
}

function journaledPieces(
  journal: JournalContent,
  spoolDir: string,
  stateDir: string,
  found: Totals,
): Copyable[] {
  const pieces: Copyable[] = []
  let withoutContent = 0
  for (const { path, spool, digest } of journal.intentions) {
    if (spool === undefined) withoutContent++
    else pieces.push({ path, ...contentOf(journal, join(spoolDir, spool), spool, digest) })
  }
  for (const { path, spool } of journal.scratch)
    if (spool !== undefined) pieces.push({ path, ...contentOf(journal, join(spoolDir, spool), spool) })
  found.withoutContent += withoutContent
  if (withoutContent > 0)
    console.error(
      `docmount: ${stateDir}: ${withoutContent} deletes and renames have no content of their own to copy`,
    )
  return pieces
}

/** Small content is in the journal; its spool file may be missing. */
function contentOf(
  journal: JournalContent,
  file: string,
  spool: string,
  digest?: { readonly size: number; readonly sha256: string },
): Omit<Copyable, 'path'> {
  const bytes = journal.contents.get(spool)
  const isSaved = bytes !== undefined && (digest === undefined || isSameDigest(digestOfBytes(bytes), digest))
  if (isSaved)
    return {
      bytes: bytes.length,
      write: (target) => writeFile(target, bytes, { flag: 'wx', mode: 0o600 }),
    }
  return {
    bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0,
    write: (target) => copyFile(file, target, constants.COPYFILE_EXCL),
  }
}
