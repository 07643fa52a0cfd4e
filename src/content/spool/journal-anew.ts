// A journal whose files are not at their paths any more, while it is open: what the open ones hold is written into a new one,
// which takes their place. Whole or not at all: a kill in between leaves a file that the next start takes up.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'libsql'
import { isInPlace, knownFile, type KnownFile } from '../../known-file.ts'
import { asideName } from './journal-salvage.ts'

/** Beside the journal: one that is complete, and has not taken its place yet. */
const completeSuffix = '.anew'
const unfinishedSuffix = '.unfinished'

/** The log and the index of an open journal as they lie beside it. Throws ENOENT where they do not. */
export function companionsOf(path: string): KnownFile[] {
  return ['-wal', '-shm'].map((part) => knownFile(path + part))
}

/** True where all of them are at their paths, or nobody can tell. */
export function areInPlace(files: readonly KnownFile[]): boolean {
  try {
    return files.every(isInPlace)
  } catch {
    // A folder that may not be looked into has not lost what is in it.
    return true
  }
}

/**
 * Writes all that `db` holds into a journal at `path`, on disk. Answers the name under which it has set aside a file that
 * stood there and is not `known`.
 */
export function writeAnew(
  db: Database.Database,
  path: string,
  known: readonly KnownFile[],
  now: Date,
): string | undefined {
  const unfinished = path + unfinishedSuffix
  rmSync(unfinished, { force: true })
  // Empty, it is taken as it is: nobody else may read it.
  closeSync(openSync(unfinished, 'wx', 0o600))
  db.prepare('vacuum into ?').run(unfinished)
  syncNow(unfinished)
  renameSync(unfinished, path + completeSuffix)
  return takeUpAnew(path, known, now)
}

/** One that is complete takes its place, where there is one. */
export function takeUpAnew(path: string, known: readonly KnownFile[], now: Date): string | undefined {
  const complete = path + completeSuffix
  if (!existsSync(complete)) return undefined
  const isForeign = existsSync(path) && !known.some((file) => file.path === path && isInPlace(file))
  const aside = isForeign ? asideName(path, now) : undefined
  // A log without its database is of use to nobody, and would be taken for the new one's.
  for (const part of ['-wal', '-shm', '']) {
    if (aside !== undefined && part !== '-shm' && existsSync(path + part))
      renameSync(path + part, aside + part)
    else rmSync(path + part, { force: true })
  }
  renameSync(complete, path)
  syncNow(dirname(path))
  return aside
}

/** A file, or the names in a folder. */
export function syncNow(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
