// Reads the journal without its lock and without repair, for `status` and `recover`: while a daemon writes it, and after a daemon
// has ended.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import type { Intention } from '../intention.ts'
import { schemaVersion } from './journal-migrations.ts'
import { intentionOf, isSealed, scratchOf, type Row, type ScratchRow } from './journal-rows.ts'

export interface JournalContent {
  /** Oldest first. Rows that were damaged are left out. */
  readonly intentions: readonly Intention[]
  readonly scratch: readonly ScratchRow[]
  /** Small content, by the id of its spool file. */
  readonly contents: ReadonlyMap<string, Uint8Array>
  /** Ids of spool files that are not needed any more. */
  readonly dropped: ReadonlySet<string>
  /** True where it has nothing that a later run could need. */
  readonly isEmpty: boolean
}

/** Tables whose rows mean nothing without an intention or content. */
const auxiliaryTables: ReadonlySet<string> = new Set(['dropped', 'counter'])

/** Returns the content; undefined where the folder has no journal. Throws an error written for people where it cannot be read. */
export function readJournal(stateDir: string): JournalContent | undefined {
  const path = join(stateDir, 'journal.db')
  if (!existsSync(path)) return undefined
  const db = openToRead(path)
  try {
    // In one snapshot, because a daemon may move a file from one table to another meanwhile.
    db.exec('begin')
    return contentOf(db)
  } catch (error) {
    throw new Error(`its journal cannot be read (${(error as Error).message})`, { cause: error })
  } finally {
    db.close()
  }
}

/** True where no table of the database has a row, and where the file is missing or empty. */
export function isEmptyDatabase(path: string): boolean {
  if (!existsSync(path)) return true
  const db = openToRead(path)
  try {
    return tablesOf(db).every((table) => isEmptyTable(db, table))
  } finally {
    db.close()
  }
}

function openToRead(path: string): Database.Database {
  return new Database(path, { readonly: true, timeout: 1_000 })
}

function contentOf(db: Database.Database): JournalContent {
  const { user_version: version } = db.prepare('pragma user_version').get() as { user_version: number }
  if (version > schemaVersion) throw new Error('a newer docmount wrote it')
  const tables = tablesOf(db)
  const all = (table: string, order: string): Row[] =>
    tables.includes(table) ? (db.prepare(`select * from ${table} order by ${order}`).all() as Row[]) : []
  const contents = all('content', 'spool') as unknown as { spool: string; bytes: ArrayBuffer }[]
  return {
    intentions: all('intention', 'id').filter(isSealed).map(intentionOf),
    scratch: all('scratch', 'path').map(scratchOf),
    contents: new Map(contents.map(({ spool, bytes }) => [spool, new Uint8Array(bytes)])),
    dropped: new Set(all('dropped', 'id').map(({ spool }) => String(spool))),
    isEmpty: tables.every((table) => auxiliaryTables.has(table) || isEmptyTable(db, table)),
  }
}

function tablesOf(db: Database.Database): string[] {
  const rows = db.prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
  return (rows.all() as { name: string }[]).map(({ name }) => name)
}

function isEmptyTable(db: Database.Database, table: string): boolean {
  return db.prepare(`select 1 from "${table}" limit 1`).get() === undefined
}
