// The last listing of each folder, with what was changed here since, kept across restarts, so that a project can be mounted while
// the service is down. A cache: listings are written lazily, all of it without fsync, and without presigned URLs, which are
// secrets and dead by then anyway. Whatever happens to its file, the drive goes on: it is made anew, or done without until the next start.

import type { Timer, Timers } from '../../world/clock.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import type { Log } from '../../log.ts'
import { fingerprintOf } from '../fingerprint.ts'
import { folderOf, isAtOrUnder, nameOf, pathBelow } from '../../path.ts'
import { isDamage } from './journal-salvage.ts'
import { makePrivateDatabase } from './private-file.ts'

const saveAfterMs = 2_000
/** Changes since a listing are written sooner. */
const saveChangesAfterMs = 200
/** A folder of more names than this is asked for again rather than saved. */
export const mostSavedNames = 50_000

type Told = RemoteFile | RemoteFolder

/** The record at a name by now; undefined for nothing. */
export interface Change {
  readonly folder: string
  readonly name: string
  readonly record: Told | undefined
}

/** A folder's names with what the service said of them. */
export interface Names {
  readonly size: number
  values(): Iterable<Told>
}

export class SavedListings {
  readonly #path: string
  readonly #log: Log
  readonly #timers: Timers
  /** Undefined where the file cannot be had. */
  #db: Database.Database | undefined
  readonly #unsaved = new Map<string, Names>()
  /** Records at names that were changed here since their folder was listed: undefined for nothing. By folder. */
  readonly #changes = new Map<string, Map<string, Told | undefined>>()
  /** Folders that were saved, and are gone from the service: who stores something in one of them begins it anew. */
  readonly #gone = new Set<string>()
  #timer: Timer | undefined
  #changesTimer: Timer | undefined
  /** No earlier run has listed anything. */
  readonly #isFirst: boolean
  /** This run has written something. */
  #hasBegun = false
  /** The folder that was last asked for as it was. */
  #earlier: { readonly key: string; readonly names: ReadonlyMap<string, string> | undefined } | undefined
  /** The disk took nothing the last time. */
  #isRefused = false

  constructor(stateDir: string, log: Log, timers: Timers) {
    this.#path = join(stateDir, 'listings.db')
    this.#log = log
    this.#timers = timers
    this.#db = this.#guarded('opened', () => open(this.#path)) ?? this.#madeAnew()
    const isAnyKept = this.#guarded('read', () => this.#db?.prepare('select 1 from listing limit 1').get())
    this.#isFirst = isAnyKept === undefined
  }

  /** Names of the folder at `path` as it was last listed, with what was changed here since. */
  load(path: string): readonly Told[] | undefined {
    return this.#guarded('read', () => {
      const unsaved = this.#unsaved.get(path)
      const found = unsaved === undefined ? this.#stored(path) : byName(unsaved.values())
      if (found === undefined) return undefined
      for (const [name, record] of this.#changes.get(path) ?? []) put(found, name, record)
      return [...found.values()]
    })
  }

  /**
   * The version that an earlier run knew at this path when it ended: the fingerprint of a document, or null for none;
   * undefined where there was no earlier run. With `isOfAny` also what was listed since, and is written already.
   */
  earlier(path: string, { isOfAny }: { isOfAny: boolean }): string | null | undefined {
    const folder = folderOf(path)
    return this.#guarded('read', () => {
      const key = `${isOfAny} ${folder}`
      // A program that saves in a folder unseen saves more than one document there.
      if (this.#earlier?.key !== key) {
        const stored = this.#storedEarlier(folder, isOfAny)
        const names = stored && new Map<string, string>()
        for (const [name, record] of stored ?? [])
          if (record.kind === 'file') names?.set(name, fingerprintOf(record))
        this.#earlier = { key, names }
      }
      const { names } = this.#earlier
      return names?.get(nameOf(path)) ?? (this.#isFirst && names === undefined ? undefined : null)
    })
  }

  /** Names in the folder at `path` that are folders, as far as anything is saved of what is in them. */
  foldersIn(path: string): Set<string> {
    const below = pathBelow(path, '')
    const names = new Set(this.#guarded('read', () => storedFoldersIn(this.#db, below)))
    for (const known of [...this.#unsaved.keys(), ...this.#changes.keys()])
      if (known !== path && isAtOrUnder(known, path)) names.add(firstName(known, below))
    return names
  }

  /** Keeps a listing for the next start, a little later, many at once. Changes from before are in it, or are told again. */
  save(path: string, names: Names): void {
    this.#gone.delete(path)
    if (names.size > mostSavedNames || this.#db === undefined) return
    this.#changes.delete(path)
    this.#unsaved.set(path, names)
    this.#timer ??= this.#timers.setTimeout(() => this.flush(), saveAfterMs).unref()
  }

  /** This is at the name now, or nothing. Of a folder never listed nothing is kept. */
  changed(path: string, name: string, record: Told | undefined): void {
    if (this.#db === undefined) return
    const changes = this.#changes.get(path) ?? new Map<string, Told | undefined>()
    changes.set(name, record)
    this.#changes.set(path, changes)
    this.#changesTimer ??= this.#timers.setTimeout(() => this.flush(), saveChangesAfterMs).unref()
  }

  /**
   * The service has agreed to these, which were made here. They are journaled no more: a kill before they are written would leave
   * nobody who knows them, and what stands there would be taken for another client's.
   */
  agreed(changes: readonly Change[]): void {
    for (const { folder, record } of changes)
      if (record !== undefined && this.#gone.delete(folder)) this.began(folder)
    const isWritten =
      !this.#isRefused &&
      this.#write((db) => {
        // There is nothing yet that they could be changes of.
        for (const { folder } of changes) {
          const names = this.#unsaved.get(folder)
          if (names !== undefined && !isStored(db, folder)) writeListings(db, new Map([[folder, names]]))
        }
        writeChanges(db, changes)
      })
    for (const { folder, name, record } of changes) {
      // A listing that waits takes the place of what is written.
      if (!isWritten || this.#unsaved.has(folder)) this.changed(folder, name, record)
      else this.#changes.get(folder)?.delete(name)
    }
  }

  /** A folder made here is in the service now: what is in it is what is stored in it from here on. */
  began(path: string): void {
    if (this.#db === undefined || this.load(path) !== undefined) return
    const empty = new Map([[path, new Map<string, Told>()]])
    if (!this.#isRefused && this.#write((db) => writeListings(db, empty))) return
    this.#unsaved.set(path, new Map())
    this.#changesTimer ??= this.#timers.setTimeout(() => this.flush(), saveChangesAfterMs).unref()
  }

  /** The folder is gone from the service, with all that is below: one of its name will be another. */
  gone(path: string): void {
    for (const known of this.#savedUnder(path)) this.#gone.add(known)
    for (const oldest of this.#gone) {
      if (this.#gone.size <= mostSavedNames) break
      this.#gone.delete(oldest)
    }
    for (const known of [...this.#unsaved.keys(), ...this.#changes.keys()]) {
      if (!isAtOrUnder(known, path)) continue
      this.#unsaved.delete(known)
      this.#changes.delete(known)
    }
    this.agreed([{ folder: folderOf(path), name: nameOf(path), record: undefined }])
    this.#guarded('written', () => {
      const now: [string, string][] = [
        ['listing', 'path'],
        ['changed', 'folder'],
      ]
      const earlier = now.map(([table, column]): [string, string] => [`earlier_${table}`, column])
      for (const [table, column] of this.#hasBegun ? [...now, ...earlier] : now)
        this.#db?.prepare(`delete from ${table} where ${isUnder(column)}`).run([path])
    })
  }

  close(): void {
    this.flush()
    const db = this.#db
    // A listing may come after the end; a closed database that is used ends the process.
    this.#db = undefined
    this.#guarded('closed', () => db?.close())
  }

  /** Writes what waits, now. */
  flush(): void {
    this.#timers.clear(this.#timer)
    this.#timers.clear(this.#changesTimer)
    this.#timer = undefined
    this.#changesTimer = undefined
    this.#earlier = undefined
    if ((this.#unsaved.size === 0 && this.#changes.size === 0) || this.#db === undefined) return
    const isWritten = this.#write((db) => {
      writeListings(db, this.#unsaved)
      for (const [folder, changes] of this.#changes)
        writeChanges(
          db,
          Array.from(changes, ([name, record]) => ({ folder, name, record })),
        )
    })
    if (!isWritten && this.#db !== undefined) {
      this.#dropOldest()
      return
    }
    this.#unsaved.clear()
    this.#changes.clear()
  }

  /** All of it or nothing. False where the disk does not take it. */
  #write(work: (db: Database.Database) => void): boolean {
    const db = this.#db
    if (db === undefined) return false
    const isWritten = this.#guarded('written', () => {
      try {
        // Refused before a statement is begun: libsql leaves one in progress that met a lock, and commits nothing after that.
        db.exec('begin immediate')
        if (!this.#hasBegun) beginRun(db)
        work(db)
        db.exec('commit')
        this.#hasBegun = true
        return true
      } finally {
        if (db.inTransaction) db.exec('rollback')
      }
    })
    this.#isRefused = isWritten !== true
    return !this.#isRefused
  }

  /**
   * Listings that could not be written are tried again with what comes next. The oldest go where they are too many,
   * so that a disk that stays full does not take the memory, too.
   */
  #dropOldest(): void {
    const waiting = [this.#unsaved, this.#changes]
    let names = 0
    for (const folders of waiting) for (const { size } of folders.values()) names += size
    for (const folders of waiting) {
      for (const [path, { size }] of folders) {
        if (names <= mostSavedNames) return
        folders.delete(path)
        names -= size
      }
    }
  }

  /** The folder at `path` and those below, as far as anything is saved of them. */
  #savedUnder(path: string): string[] {
    const stored = this.#guarded('read', () =>
      this.#db?.prepare(`select path from listing where ${isUnder('path')}`).all([path]),
    )
    const waiting = [...this.#unsaved.keys()].filter((known) => isAtOrUnder(known, path))
    return [...((stored ?? []) as { path: string }[]).map((row) => row.path), ...waiting]
  }

  #storedEarlier(path: string, isOfAny: boolean): Map<string, Told> | undefined {
    const db = this.#db
    if (db === undefined || !this.#hasBegun || isOfAny) return this.#stored(path)
    if (db.prepare('select 1 from earlier_listing where path = ?').get(path) !== undefined)
      return this.#stored(path, 'earlier_')
    const isOfThisRun = db.prepare('select 1 from listing where path = ? and run = ?').get(path, runOf(db))
    return isOfThisRun === undefined ? this.#stored(path) : undefined
  }

  #stored(path: string, of: '' | 'earlier_' = ''): Map<string, Told> | undefined {
    const row = this.#db?.prepare(`select names from ${of}listing where path = ?`).get(path) as
      | { names: string }
      | undefined
    if (row === undefined) return undefined
    const found = byName((JSON.parse(row.names) as Entry[]).map(recordOf))
    const changes = this.#db?.prepare(`select name, entry from ${of}changed where folder = ?`).all(path) ?? []
    for (const { name, entry } of changes as { name: string; entry: string | null }[])
      put(found, name, entry === null ? undefined : recordOf(JSON.parse(entry) as Entry))
    return found
  }

  /** Undefined where it fails, which is logged; a damaged file is made anew. */
  #guarded<T>(what: string, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#log.warn({ file: this.#path, error: String(error) }, `the saved listings could not be ${what}`)
      if (isDamage(error) && this.#db !== undefined) this.#db = this.#madeAnew()
      return undefined
    }
  }

  #madeAnew(): Database.Database | undefined {
    this.#hasBegun = false
    try {
      this.#db?.close()
      for (const part of ['', '-wal', '-shm', '-journal'])
        rmSync(this.#path + part, { force: true, recursive: true })
      return open(this.#path)
    } catch (error) {
      this.#log.warn(
        { file: this.#path, error: String(error) },
        'the drive goes on without saved listings until the next start',
      )
      return undefined
    }
  }
}

function open(path: string): Database.Database {
  makePrivateDatabase(path)
  const db = new Database(path)
  try {
    // Not WAL, which needs shared memory: on a full disk a page of it that cannot be had would end the process. And no lock
    // that outlives a transaction: the package closes a database only when its statements have been collected.
    db.exec('pragma journal_mode = truncate')
    db.exec('pragma synchronous = off')
    db.exec('create table if not exists listing (path text primary key, names text not null) without rowid')
    // `entry`: as one of `names`; null where nothing is left at the name.
    db.exec(`create table if not exists changed
      (folder text not null, name text not null, entry text, primary key (folder, name)) without rowid`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** From the first thing that is written on: what an earlier run left of folders that are listed anew since is kept until the next. */
function beginRun(db: Database.Database): void {
  const columns = db.prepare('pragma table_info(listing)').all() as { name: string }[]
  if (!columns.some(({ name }) => name === 'run'))
    db.exec('alter table listing add column run integer not null default 0')
  db.exec('drop table if exists earlier_listing; drop table if exists earlier_changed')
  db.exec('create table earlier_listing (path text primary key, names text not null) without rowid')
  db.exec(`create table earlier_changed
    (folder text not null, name text not null, entry text, primary key (folder, name)) without rowid`)
  db.exec(`pragma user_version = ${runOf(db) + 1}`)
}

function runOf(db: Database.Database): number {
  return (db.prepare('pragma user_version').get() as { user_version: number }).user_version
}

function isStored(db: Database.Database, folder: string): boolean {
  return db.prepare('select 1 from listing where path = ?').get(folder) !== undefined
}

function writeListings(db: Database.Database, listings: ReadonlyMap<string, Names>): void {
  if (listings.size === 0) return
  const run = runOf(db)
  const isOfEarlier = 'exists (select 1 from listing where path = ?1 and run <> ?2)'
  const keep = db.prepare(
    `insert or ignore into earlier_listing select path, names from listing where path = ?1 and ${isOfEarlier}`,
  )
  const keepChanges = db.prepare(
    `insert or ignore into earlier_changed select folder, name, entry from changed where folder = ?1 and ${isOfEarlier}`,
  )
  const insert = db.prepare('insert or replace into listing (path, names, run) values (?, ?, ?)')
  const forgetChanges = db.prepare('delete from changed where folder = ?')
  for (const [path, names] of listings) {
    keep.run(path, run)
    keepChanges.run(path, run)
    insert.run(path, JSON.stringify(Array.from(names.values(), entryOf)), run)
    forgetChanges.run(path)
  }
}

function writeChanges(db: Database.Database, changes: readonly Change[]): void {
  if (changes.length === 0) return
  const insert = db.prepare(
    `insert or replace into changed (folder, name, entry)
     select ?1, ?2, ?3 where exists (select 1 from listing where path = ?1)`,
  )
  for (const { folder, name, record } of changes)
    insert.run(folder, name, record === undefined ? null : JSON.stringify(entryOf(record)))
}

/** The path itself, and all that begins with `path/`: `0` follows `/`. */
function isUnder(column: string): string {
  return `(${column} = ?1 or (${column} >= ?1 || '/' and ${column} < ?1 || '0'))`
}

/** One look for each of them, however much is below. */
function storedFoldersIn(db: Database.Database | undefined, below: string): string[] {
  const names: string[] = []
  const next = db?.prepare('select path from listing where path >= ? and path < ? limit 1')
  // `0` follows `/`; no name begins before the first character.
  const end = `${below.slice(0, -1)}0`
  let from = `${below}\u0001`
  for (;;) {
    const row = next?.get(from, end) as { path: string } | undefined
    if (row === undefined) return names
    const name = firstName(row.path, below)
    names.push(name)
    // Other names may come between a folder and what is in it.
    from = row.path === below + name ? `${row.path}\u0001` : `${below}${name}0`
  }
}

function firstName(path: string, below: string): string {
  return path.slice(below.length).split('/', 1)[0] ?? ''
}

function byName(records: Iterable<Told>): Map<string, Told> {
  return new Map(Array.from(records, (record) => [record.name, record]))
}

function put(names: Map<string, Told>, name: string, record: Told | undefined): void {
  if (record === undefined) names.delete(name)
  else names.set(name, { ...record, name })
}

type Entry = [string, number | null, string | null, string | null] | [string]

/** `[name]` for a folder, `[name, size, modifiedAt, mimetype]` for a file. */
function entryOf(record: Told): unknown[] {
  if (record.kind === 'folder') return [record.name]
  return [record.name, record.size ?? null, record.modifiedAt ?? null, record.mimetype ?? null]
}

function recordOf(entry: Entry): Told {
  const [name, size, modifiedAt, mimetype] = entry
  if (entry.length === 1) return { kind: 'folder', name }
  return {
    kind: 'file',
    name,
    size: size ?? undefined,
    modifiedAt: modifiedAt ?? undefined,
    mimetype: mimetype ?? undefined,
    url: undefined,
  }
}
