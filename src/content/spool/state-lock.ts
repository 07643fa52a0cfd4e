// The lock of a state folder, which only one process may use at a time. It is an exclusive transaction, so that it always ends
// with the process.

import type { Disk } from '../../world/disk.ts'
import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import type { ErrnoError } from '../../errno-error.ts'
import { isInPlace, knownFile, type KnownFile } from '../../known-file.ts'
import { refused } from './journal-refusal.ts'
import { isDamage } from './journal-salvage.ts'
import { makePrivateDatabase, makePrivateFolder } from './private-file.ts'

export interface StateLock {
  readonly file: KnownFile
  close(): void
}

/** Attempts to lock a folder that is removed or moved at the same moment. */
const mostAttempts = 5

/**
 * Creates the folder where missing, and locks it until `close`. Uses a database of its own, without prepared statements, which
 * would keep the connection open until they are garbage-collected. Throws EBUSY where another process has the lock.
 */
export function lockStateFolder(stateDir: string, disk: Disk): StateLock {
  const path = join(stateDir, 'lock.db')
  for (let attempt = 1; ; attempt++) {
    try {
      makePrivateFolder(stateDir, disk)
      makePrivateDatabase(path)
      const file = knownFile(path)
      const lock = lockFile(path, stateDir)
      // Another process that had the lock may have removed the empty state folder, and the file that is locked here with it.
      if (isInPlace(file)) return { file, close: () => lock.close() }
      lock.close()
      if (attempt === mostAttempts) throw inUse(stateDir)
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT' || attempt === mostAttempts) throw error
    }
  }
}

function lockFile(path: string, stateDir: string): Database.Database {
  const lock = new Database(path)
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (isDamage(error) && statSync(path).size > 0) {
      // No other process has the lock, or the error would be SQLITE_BUSY. The file has no content; it must stay the same file, so
      // that other processes meet the lock.
      truncateSync(path)
      return lockFile(path, stateDir)
    }
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw inUse(stateDir, error)
  }
}

function inUse(stateDir: string, cause?: unknown): ErrnoError {
  return refused('EBUSY', `another docmount uses the state folder ${stateDir}: unmount it first`, cause)
}
