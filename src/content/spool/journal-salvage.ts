// A damaged journal: its files are set aside under a dated name, never deleted, and the rows that can still be read are
// inserted into a new one.

import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import Database from 'libsql'
import { isSealed, type Row } from './journal-rows.ts'

/** Tables, with the columns that no good row lacks. */
const tables: Readonly<Record<string, readonly string[]>> = {
  intention: ['id', 'kind', 'path', 'doubts'],
  content: ['spool', 'bytes'],
  folder: ['path'],
  scratch: ['path'],
  attribute: ['path', 'fingerprint'],
  counter: ['name', 'value'],
  dropped: ['spool'],
  conflict: ['copy', 'path', 'at'],
}

/** Throws SQLite's error where a table, or a column that is always filled in, is missing. */
export function checkTables(db: Database.Database): void {
  for (const [table, needed] of Object.entries(tables))
    db.prepare(`select ${needed.join()} from ${table} limit 1`).all()
}

export type Salvaged = ReadonlyMap<string, readonly Row[]>

/** True for SQLite's errors about a file with content that SQLite did not write. */
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^SQLITE_(NOTADB|CORRUPT|FORMAT|SCHEMA|ERROR|MISMATCH|TOOBIG)/.test(code)
}

/** The name of a file once it is set aside: its own, and the time (UTC). */
export function asideName(path: string, now: Date): string {
  return `${path}.damaged-${now.toISOString().slice(0, 19).replaceAll(':', '.')}`
}

/** Renames the database and its log as damaged. Returns the database's new name. */
export function setFilesAside(path: string, now: Date): string {
  const aside = asideName(path, now)
  for (const part of ['', '-wal']) if (existsSync(path + part)) renameSync(path + part, aside + part)
  rmSync(`${path}-shm`, { force: true })
  return aside
}

/** Like `setFilesAside`; also returns the rows that could be read. */
export function setAsideAndRead(path: string, now: Date): { aside: string; rows: Salvaged } {
  const aside = setFilesAside(path, now)
  const copy = `${path}.salvage`
  try {
    // A copy is read, because reading a database may change it.
    for (const part of ['', '-wal']) if (existsSync(aside + part)) copyFileSync(aside + part, copy + part)
    return { aside, rows: readAll(copy) }
  } finally {
    for (const part of ['', '-wal', '-shm']) rmSync(copy + part, { force: true })
  }
}

function readAll(path: string): Salvaged {
  const rows = new Map<string, Row[]>()
  let db: Database.Database
  try {
    db = new Database(path)
  } catch {
    return rows
  }
  for (const [table, needed] of Object.entries(tables)) {
    const key = needed[0] ?? 'path'
    const found = new Map<unknown, Row>()
    // From both ends: each stops at the first row that cannot be read, so only those between are lost.
    for (const order of ['asc', 'desc']) {
      try {
        const statement = db.prepare(`select * from ${table} order by ${key} ${order}`)
        for (const row of statement.iterate() as Iterable<Row>) found.set(row[key], row)
      } catch {
        continue
      }
    }
    const good = [...found.values()].filter((row) => needed.every((column) => isGood(column, row[column])))
    rows.set(table, table === 'intention' ? good.filter(isSealed) : good)
  }
  db.close()
  return rows
}

function isGood(column: string, value: unknown): boolean {
  if (value === null || value === undefined) return false
  return column !== 'path' || (typeof value === 'string' && value.startsWith('/'))
}

/** Inserts rows of a damaged journal: the columns that this one has, unless it has a row of the same key. Returns how many. */
export function insertRows(db: Database.Database, rows: Salvaged): number {
  let count = 0
  for (const [table, found] of rows) {
    const known = new Set(
      (db.prepare(`pragma table_info(${table})`).all() as { name: string }[]).map(({ name }) => name),
    )
    for (const row of found) {
      const columns = Object.keys(row).filter((column) => known.has(column))
      const values = columns.map((column) => bindable(row[column]))
      try {
        db.prepare(
          `insert or ignore into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`,
        ).run(...values)
        count++
      } catch {
        // A row that breaks the schema's rules was damaged, too.
      }
    }
  }
  return count
}

function bindable(value: Row[string] | ArrayBuffer | undefined): unknown {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value ?? null)
}
