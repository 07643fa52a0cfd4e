// A state folder that holds nothing goes; what is not understood stays.

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
 * Removes the folder where there is nothing in it but databases without rows, empty folders, and files that `isOfNoUse`.
 * Answers whether it is gone. A folder that another process has, or that holds anything else, is left as it is.
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
    // Somebody has it, or it cannot be read: both are reasons to leave it.
    return false
  }
}

function isEmpty(stateDir: string): boolean {
  if ([...folders].some((folder) => namesIn(join(stateDir, folder), systemDisk).length > 0)) return false
  return readJournal(stateDir)?.isEmpty !== false && isEmptyDatabase(join(stateDir, 'listings.db'))
}

/** The lock's own file last: who waits for it looks whether it is still there. */
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
