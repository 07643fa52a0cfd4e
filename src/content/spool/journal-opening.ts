// Opens the database of a journal: made where it is missing, brought up to date, and only where it is sound; what is not is set
// aside, and what can still be read of it taken over.

import Database from 'libsql'
import { takeUpAnew } from './journal-anew.ts'
import { migrate, schemaVersion, versionOf } from './journal-migrations.ts'
import { checkTables, isDamage, setAside, takeOver } from './journal-salvage.ts'
import { makePrivateDatabase } from './private-file.ts'

/**
 * So long another program that holds the database is waited for. The process does nothing else meanwhile, but a save
 * does not fail.
 */
const busyTimeoutMs = 5_000

/** `damaged` hears what was found, and what was done about it, in a sentence. */
export function openSoundly(
  path: string,
  stateDir: string,
  now: Date,
  damaged: (sentence: string) => void,
): Database.Database {
  try {
    const aside = takeUpAnew(path, [], now)
    if (aside !== undefined)
      damaged(
        `the journal had been taken away, and was being made anew: what stood in its place is set aside as ${aside}`,
      )
    return openDatabase(path, stateDir)
  } catch (error) {
    if (!isDamage(error)) throw error
    const { aside, rows } = setAside(path, now)
    const db = openDatabase(path, stateDir)
    const count = takeOver(db, rows)
    damaged(`the journal was damaged: set aside as ${aside}, ${count} of its rows could be read`)
    return db
  }
}

export function openDatabase(path: string, stateDir: string): Database.Database {
  makePrivateDatabase(path)
  const db = new Database(path, { timeout: busyTimeoutMs })
  try {
    // Before anything is written: a journal this docmount does not understand stays as it is.
    const version = versionOf(db, stateDir)
    db.exec('pragma journal_mode = wal')
    // Commits write the log, `durable` syncs it; checkpoints sync both by themselves.
    db.exec('pragma synchronous = normal')
    beginLogAnew(db)
    if (version < schemaVersion) migrate(db, version)
    const [check] = db.prepare('pragma quick_check(1)').all() as { quick_check: string }[]
    if (check?.quick_check !== 'ok')
      throw Object.assign(new Error(`the journal is damaged: ${check?.quick_check}`), {
        code: 'SQLITE_CORRUPT',
      })
    checkTables(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * The next write begins the log under another salt. A power cut may leave, behind a frame that is torn, frames that are whole:
 * they end nothing as long as they follow upon something else, and would be read again where the torn one is written again as
 * it was (their checksums go on from its own).
 */
function beginLogAnew(db: Database.Database): void {
  try {
    const { log: frames } = db.prepare('pragma wal_checkpoint(restart)').get() as { log: number }
    // Torn at its very beginning it keeps its salt, unless it is cut to nothing.
    if (frames === 0) db.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    // No room, say: the log goes on.
    if (isDamage(error)) throw error
  }
}
