// Removal of a state folder without content. A folder with anything unknown in it stays.

import { systemDisk } from '../../world/disk.ts'
import { rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isEmptyDatabase, readJournal } from './journal-reading.ts'
import { namesIn } from './names-in.ts'
import { lockStateFolder } from './state-lock.ts'

const databases = /^(?:journal|listings)\.db(?:-wal|-shm|-journal)?$/
const folders: ReadonlySet<string> = new Set(['spool', 'lost+found', 'undo'])
const lockFiles = /^lock\.db(?:-journal)?$/

/**
 * Removes the folder if it contains only databases without rows, empty folders, and files for which `isOfNoUse` is true.
 * Returns true if it is gone. A folder that another process has locked, or with anything else in it, is left as it is.
 */
export function removeEmptyState(stateDir: string, isOfNoUse: (name: string) => boolean): boolean {
  const names = namesIn(stateDir, systemDisk)
  const isKnown = (name: string): boolean =>
    databases.test(name) || folders.has(name) || lockFiles.test(name) || isOfNoUse(name)
  if (!names.every(isKnown)) return false
  if (!names.includes('lock.db')) return removeAll(stateDir, names)
  try {
    const lock = lockStateFolder(stateDir, systemDisk)
    try {
      return isEmpty(stateDir) && removeAll(stateDir, namesIn(stateDir, systemDisk).filter(isKnown))
    } finally {
      lock.close()
    }
  } catch {
    // Another process has it, or it cannot be read: it is left in both cases.
    return false
  }
}

function isEmpty(stateDir: string): boolean {
  if ([...folders].some((folder) => namesIn(join(stateDir, folder), systemDisk).length > 0)) return false
  return readJournal(stateDir)?.isEmpty !== false && isEmptyDatabase(join(stateDir, 'listings.db'))
}

/** Removes the lock's file last, since a process that waits for the lock then checks whether the file still exists. */
function removeAll(stateDir: string, names: readonly string[]): boolean {
  try {
    for (const name of names.toSorted((a, b) => Number(lockFiles.test(a)) - Number(lockFiles.test(b)))) {
      if (folders.has(name)) rmdirSync(join(stateDir, name))
      else rmSync(join(stateDir, name), { force: true })
    }
    rmdirSync(stateDir)
    return true
  } catch {
    return false
  }
}
