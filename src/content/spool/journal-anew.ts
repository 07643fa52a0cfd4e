// A new journal for one whose files were removed from their paths while it was open: the content of the open files is written
// into a new file, which takes their place. After a kill in between, the next start uses the new file if it is complete.

import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'libsql'
import { isInPlace, knownFile, type KnownFile } from '../../known-file.ts'
import { syncNow, systemDisk } from '../../world/disk.ts'
import { asideName } from './journal-salvage.ts'

/** Suffix of a new journal that is complete, and has not taken the old one's place yet. */
const completeSuffix = '.anew'
const unfinishedSuffix = '.unfinished'

/** The log and the index beside an open journal. Throws ENOENT where they are missing. */
export function companionsOf(path: string): KnownFile[] {
  return ['-wal', '-shm'].map((part) => knownFile(path + part))
}

/** True where all files are at their paths, or that cannot be checked. */
export function areInPlace(files: readonly KnownFile[]): boolean {
  try {
    return files.every(isInPlace)
  } catch {
    // A folder that cannot be read does not show that files are missing.
    return true
  }
}

/**
 * Writes the content of `db` into a new journal at `path`, and syncs it. Returns the name under which another file at that
 * path, which is not among the `known` ones, was set aside.
 */
export function rewriteJournal(
  db: Database.Database,
  path: string,
  known: readonly KnownFile[],
  now: Date,
): string | undefined {
  const unfinished = path + unfinishedSuffix
  rmSync(unfinished, { force: true })
  // SQLite uses an existing empty file, and so keeps its mode: only we may read it.
  closeSync(openSync(unfinished, 'wx', 0o600))
  db.prepare('vacuum into ?').run(unfinished)
  syncNow(unfinished, systemDisk)
  renameSync(unfinished, path + completeSuffix)
  return finishRewrite(path, known, now)
}

/** Moves a complete new journal, if there is one, to the journal's path. Returns as `rewriteJournal` does. */
export function finishRewrite(path: string, known: readonly KnownFile[], now: Date): string | undefined {
  const complete = path + completeSuffix
  if (!existsSync(complete)) return undefined
  const isForeign = existsSync(path) && !known.some((file) => file.path === path && isInPlace(file))
  const aside = isForeign ? asideName(path, now) : undefined
  // A log without its database is of no use, and would be taken for the new one's.
  for (const part of ['-wal', '-shm', '']) {
    if (aside !== undefined && part !== '-shm' && existsSync(path + part))
      renameSync(path + part, aside + part)
    else rmSync(path + part, { force: true })
  }
  renameSync(complete, path)
  syncNow(dirname(path), systemDisk)
  return aside
}
