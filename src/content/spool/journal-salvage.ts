// A journal that cannot be read as it is: set aside under a dated name, never deleted, and every row of it that can still
// be read taken over into a new one.

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

/** Throws where a table, or a column that is always filled in, is missing. */
export function checkTables(db: Database.Database): void {
  for (const [table, needed] of Object.entries(tables))
    db.prepare(`select ${needed.join()} from ${table} limit 1`).all()
}

export type Salvaged = ReadonlyMap<string, readonly Row[]>

/** True for what SQLite says of a file that is not, or not only, what it wrote. */
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^SQLITE_(NOTADB|CORRUPT|FORMAT|SCHEMA|ERROR|MISMATCH|TOOBIG)/.test(code)
}

/** A file that is set aside keeps its name, and says when. */
export function asideName(path: string, now: Date): string {
  return `${path}.damaged-${now.toISOString().slice(0, 19).replaceAll(':', '.')}`
}

/** Sets the database with its log aside. Answers the new name. */
export function moveAside(path: string, now: Date): string {
  const aside = asideName(path, now)
  for (const part of ['', '-wal']) if (existsSync(path + part)) renameSync(path + part, aside + part)
  rmSync(`${path}-shm`, { force: true })
  return aside
}

/** The same; answers what could be read, too. */
export function setAside(path: string, now: Date): { aside: string; rows: Salvaged } {
  const aside = moveAside(path, now)
  const copy = `${path}.salvage`
  try {
    // Reading a database may change it.
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
    // From both ends, up to what cannot be read.
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

/** Puts rows that were read elsewhere into a journal: columns it has, under keys it has not. Answers how many. */
export function takeOver(db: Database.Database, rows: Salvaged): number {
  let count = 0
  for (const [table, found] of rows) {
    const known = new Set(
      (db.prepare(`pragma table_info(${table})`).all() as { name: string }[]).map(({ name }) => name),
    )
    for (const row of found) {
      const columns = Object.keys(row).filter((column) => known.has(column))
      const values = columns.map((column) => bound(row[column]))
      try {
        db.prepare(
          `insert or ignore into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`,
        ).run(...values)
        count++
      } catch {
        // A row that this schema does not take is no row.
      }
    }
  }
  return count
}

function bound(value: Row[string] | ArrayBuffer | undefined): unknown {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value ?? null)
}
