// Opens the database of a journal: creates it where missing, migrates an old one, sets a damaged one aside and copies its
// readable rows.

import Database from 'libsql'
import { finishRewrite } from './journal-anew.ts'
import { migrate, schemaVersion, versionOf } from './journal-migrations.ts'
import { checkTables, isDamage, setAsideAndRead, insertRows } from './journal-salvage.ts'
import { makePrivateDatabase } from './private-file.ts'

/**
 * Longest wait for another program's lock on the database (ms). It blocks the process, but lets no save fail.
 */
const busyTimeoutMs = 5_000

/** Opens the journal, after repairs. Calls `damaged` with a sentence about damage found, and what was done about it. */
export function openOrRepair(
  path: string,
  stateDir: string,
  now: Date,
  damaged: (sentence: string) => void,
): Database.Database {
  try {
    const aside = finishRewrite(path, [], now)
    if (aside !== undefined)
      damaged(
        `the journal had been taken away, and was being made anew: what stood in its place is set aside as ${aside}`,
      )
    return openDatabase(path, stateDir)
  } catch (error) {
    if (!isDamage(error)) throw error
    const { aside, rows } = setAsideAndRead(path, now)
    const db = openDatabase(path, stateDir)
    const count = insertRows(db, rows)
    damaged(`the journal was damaged: set aside as ${aside}, ${count} of its rows could be read`)
    return db
  }
}

export function openDatabase(path: string, stateDir: string): Database.Database {
  makePrivateDatabase(path)
  const db = new Database(path, { timeout: busyTimeoutMs })
  try {
    // Checked before anything is written: a newer docmount's journal stays as it is.
    const version = versionOf(db, stateDir)
    db.exec('pragma journal_mode = wal')
    // Commits write the log, `durable` syncs it; checkpoints sync both automatically.
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
 * Makes the next write begin the log with another salt. A power cut may leave intact frames behind a torn one. They are ignored
 * while the torn one is, but would become valid again if it were rewritten with the same bytes, because their checksums
 * continue from its own.
 */
function beginLogAnew(db: Database.Database): void {
  try {
    const { log: frames } = db.prepare('pragma wal_checkpoint(restart)').get() as { log: number }
    // A log torn at its first frame keeps its salt, unless it is truncated.
    if (frames === 0) db.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    // For example, the disk is full: the log is continued as it is.
    if (isDamage(error)) throw error
  }
}
