// The right to write to a state folder, which one process has at a time. The lock is an exclusive transaction, which
// ends with the process, however that ends.

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

/** A folder that was removed or moved while it was being locked is tried again so often. */
const mostAttempts = 5

/**
 * Makes the folder where it is missing, and holds it until `close`. In a database of its own, without prepared statements,
 * which would keep the connection open until they are collected. Throws EBUSY where another process has it.
 */
export function lockStateFolder(stateDir: string, disk: Disk): StateLock {
  const path = join(stateDir, 'lock.db')
  for (let attempt = 1; ; attempt++) {
    try {
      makePrivateFolder(stateDir, disk)
      makePrivateDatabase(path)
      const file = knownFile(path)
      const lock = lockFile(path, stateDir)
      // Another process that held the lock may have removed the empty state folder: the file locked here may be there no more.
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
      // No other process has it, or it would be busy. There is nothing in it; the same file, so that it locks out whoever comes.
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
