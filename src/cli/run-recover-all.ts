// Implements `docmount recover --all`: copies all unsent content of every drive of this user, mounted or not. It only reads the
// state folders, so it also works if the daemons do not, and changes nothing in them.

import { systemDisk } from '../world/disk.ts'
import { constants, statSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { digestOfBytes, isSameDigest } from '../content/digest.ts'
import { readJournal, type JournalContent } from '../content/spool/journal-reading.ts'
import { placeUnder } from '../content/spool/lost-and-found.ts'
import { findStateFolders, type StateFolder } from '../daemon/drive-file.ts'
import { CommandError } from './command-error.ts'
import { findMountOf } from '../daemon/find-mount.ts'
import { readLeftBehind } from '../daemon/left-behind.ts'
import { readOwnRecords, servedStateFolders } from '../daemon/own-records.ts'
import { exitCodes } from './exit-codes.ts'
import { ensureLocalFolder } from './local-folder.ts'
import { printable } from '../printable.ts'
import { type Progress, startProgress } from './progress.ts'

/** The copy of one unsent content. */
interface CopyItem {
  /** Path of the copy, below the destination's folder for the drive. */
  readonly path: string
  readonly write: (target: string) => Promise<unknown>
  /** Size; 0 if the content is missing. */
  readonly bytes: number
}

/** Numbers for all drives. */
interface Totals {
  copied: number
  /** Deletes and renames, which have no content to copy. */
  withoutContent: number
}

/** Calls `onCopied` with each new file. Sets the exit code if something could not be copied. */
export async function runRecoverAll(
  destination: string,
  isQuiet: boolean,
  onCopied: (file: string) => void,
): Promise<void> {
  const folder = resolve(destination)
  const onDrive = await findMountOf(folder)
  if (onDrive !== undefined)
    throw new CommandError(
      `${folder} lies inside the drive ${onDrive.found.mountpoint}; choose another place`,
    )
  const target = await ensureLocalFolder(folder)
  const totals: Totals = { copied: 0, withoutContent: 0 }
  const served = await servedStateFolders()
  const progress = startProgress('copying', { isQuiet })
  try {
    for (const state of await allStateFolders())
      await copyDrive(state, target, { isServed: served.has(state.stateDir), progress, totals, onCopied })
  } finally {
    progress.end()
  }
  if (totals.copied > 0 || process.exitCode === exitCodes.failure) return
  const why =
    totals.withoutContent > 0
      ? 'what is not sent has no content on this machine'
      : 'everything is with the service'
  console.error(`docmount: there is nothing to copy: ${why}`)
}

/** Returns the state folders at the default place, and those of drives mounted now with --state-dir. */
async function allStateFolders(): Promise<readonly StateFolder[]> {
  const folders = new Map((await findStateFolders()).map((folder) => [folder.stateDir, folder]))
  for (const { stateDir } of await readOwnRecords())
    if (!folders.has(stateDir)) folders.set(stateDir, { stateDir, drive: undefined })
  return [...folders.values()]
}

async function copyDrive(
  { stateDir, drive, problem }: StateFolder,
  destination: string,
  {
    isServed,
    progress,
    totals,
    onCopied,
  }: { isServed: boolean; progress: Progress; totals: Totals; onCopied: (file: string) => void },
): Promise<void> {
  const name = basename(stateDir)
  if (problem !== undefined) {
    progress.printLine(`docmount: ${problem}`)
    process.exitCode = exitCodes.failure
  }
  const items = await itemsOf(stateDir, isServed, totals)
  progress.expect(items.reduce((sum, { bytes }) => sum + bytes, 0))
  for (const item of items) {
    try {
      const file = await placeUnder(join(destination, name), item.path, systemDisk, item.write)
      progress.add(item.bytes)
      progress.printAbove(() => onCopied(file))
      totals.copied++
    } catch (error) {
      const what = `${printable(item.path)} of ${drive?.mountpoint ?? stateDir}`
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
      // The daemon of a mounted drive removes content from the spool once it is sent.
      if (isGone && isServed) progress.printLine(`docmount: ${what} has been sent meanwhile`)
      else {
        const why = isGone ? 'its content is not here any more' : (error as Error).message
        progress.printLine(`docmount: ${what} is not copied: ${why}`)
        process.exitCode = exitCodes.failure
      }
    }
  }
}

async function itemsOf(stateDir: string, isServed: boolean, totals: Totals): Promise<CopyItem[]> {
  const spoolDir = join(stateDir, 'spool')
  const items: CopyItem[] = []
  try {
    const journal = readJournal(stateDir)
    if (journal !== undefined) items.push(...journaledItems(journal, spoolDir, stateDir, totals))
  } catch (error) {
    // The spool files are copied anyway, as lost files.
    console.error(`docmount: ${stateDir}: ${(error as Error).message}`)
    process.exitCode = exitCodes.failure
  }
  const { lost } = await readLeftBehind(stateDir)
  for (const { file, path, name, bytes } of lost) {
    // In the spool of a mounted drive, a file without a row in the journal is still being written.
    if (isServed && dirname(file) === spoolDir) continue
    items.push({
      path: join('lost+found', path ?? name),
      bytes,
      write: (target) => copyFile(file, target, constants.COPYFILE_EXCL),
    })
  }
  return items
}

function journaledItems(
  journal: JournalContent,
  spoolDir: string,
  stateDir: string,
  totals: Totals,
): CopyItem[] {
  const items: CopyItem[] = []
  let withoutContent = 0
  for (const { path, spool, digest } of journal.intentions) {
    if (spool === undefined) withoutContent++
    else items.push({ path, ...contentOf(journal, join(spoolDir, spool), spool, digest) })
  }
  // Files that are on this machine only.
  for (const { path, spool } of journal.scratch)
    if (spool !== undefined) items.push({ path, ...contentOf(journal, join(spoolDir, spool), spool) })
  totals.withoutContent += withoutContent
  if (withoutContent > 0)
    console.error(
      `docmount: ${stateDir}: ${withoutContent} deletes and renames have no content of their own to copy`,
    )
  return items
}

/** Returns how to copy a content: small ones are in the journal, and may have no spool file. */
function contentOf(
  journal: JournalContent,
  file: string,
  spool: string,
  digest?: { readonly size: number; readonly sha256: string },
): Omit<CopyItem, 'path'> {
  const bytes = journal.contents.get(spool)
  const isInJournal =
    bytes !== undefined && (digest === undefined || isSameDigest(digestOfBytes(bytes), digest))
  if (isInJournal)
    return {
      bytes: bytes.length,
      write: (target) => writeFile(target, bytes, { flag: 'wx', mode: 0o600 }),
    }
  return {
    bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0,
    write: (target) => copyFile(file, target, constants.COPYFILE_EXCL),
  }
}
