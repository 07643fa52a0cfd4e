// The last listing of each folder, with the changes made here since, kept across restarts, so that a project can be mounted while
// the service is away. A cache: written lazily, without fsync, and without presigned URLs, which are secrets and expired by then.
// If its file is damaged it is created again; if that fails, the drive goes on without it until the next start.
//
// A change that the service has agreed to also has the time of that, so that a listing asked for right after a restart, which may
// lag behind it, is not believed. After a power cut it may be missing.

import type { Clock, Timer } from '../../world/clock.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import type { Log } from '../../log.ts'
import { fingerprintOf } from '../fingerprint.ts'
import { folderOf, isAtOrUnder, nameBelow, nameOf, pathBelow } from '../../path.ts'
import { isDamage } from './journal-salvage.ts'
import { makePrivateDatabase } from './private-file.ts'

const saveAfterMs = 2_000
/** Delay after which changes since a listing are written (ms). */
const saveChangesAfterMs = 200
/** A folder with more names is not saved, but listed again. */
export const mostSavedNames = 50_000
/** No listing lags for so long (ms). */
const lagsAtMostMs = 3_600_000

type ListedRecord = RemoteFile | RemoteFolder

/** The service has what a change says. */
export interface Agreed {
  /** Since then (ms since 1970). */
  readonly at: number
  /** Fingerprint of the newest version known at a name that has no record now. */
  readonly highest?: string | undefined
}

/** A change made here: the record now at a name, undefined for none. Without `agreed`: that is as it was known before. */
export interface Change {
  readonly folder: string
  readonly name: string
  readonly record: ListedRecord | undefined
  readonly agreed?: Agreed | undefined
}

/** The listing of a folder. */
export interface Names {
  readonly size: number
  values(): Iterable<ListedRecord>
}

export class SavedListings {
  readonly #path: string
  readonly #log: Log
  readonly #clock: Clock
  /** Undefined where the file cannot be opened. */
  #db: Database.Database | undefined
  readonly #unsaved = new Map<string, Names>()
  /** Unsaved changes since a folder was listed, by folder and name. */
  readonly #changes = new Map<string, Map<string, Change>>()
  /** Folders that were saved and then deleted from the service: a document stored in one of them makes it a new, empty folder. */
  readonly #gone = new Set<string>()
  #timer: Timer | undefined
  #changesTimer: Timer | undefined
  /** True if no earlier run has saved a listing. */
  readonly #isFirst: boolean
  /** True once this run has written something. */
  #hasBegun = false
  /** The result for the last folder of `earlier`: fingerprints by name. */
  #earlier: { readonly key: string; readonly names: ReadonlyMap<string, string> | undefined } | undefined
  /** True if the last write failed. */
  #isRefused = false

  constructor(stateDir: string, log: Log, clock: Clock) {
    this.#path = join(stateDir, 'listings.db')
    this.#log = log
    this.#clock = clock
    this.#db = this.#guarded('opened', () => open(this.#path)) ?? this.#madeAnew()
    const isAnyKept = this.#guarded('read', () => this.#db?.prepare('select 1 from listing limit 1').get())
    this.#isFirst = isAnyKept === undefined
  }

  /** Returns the records of the folder at `path` as last listed, with the changes made here since. */
  load(path: string): readonly ListedRecord[] | undefined {
    return this.#guarded('read', () => {
      const unsaved = this.#unsaved.get(path)
      const found = unsaved === undefined ? this.#stored(path) : byName(unsaved.values())
      if (found === undefined) return undefined
      for (const [name, { record }] of this.#changes.get(path) ?? []) put(found, name, record)
      return [...found.values()]
    })
  }

  /**
   * Returns the version that an earlier run knew at this path when it ended: the fingerprint of a document, or null for none;
   * undefined where there was no earlier run. Programs may have been shown it then, so a save may replace it (`fs/tree/seen.ts`).
   * `isOfAny`: includes listings of this run that are written already.
   */
  earlier(path: string, { isOfAny }: { isOfAny: boolean }): string | null | undefined {
    const folder = folderOf(path)
    return this.#guarded('read', () => {
      const key = `${isOfAny} ${folder}`
      // Cached, because a program that saves in a folder not listed yet usually saves several documents there.
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

  /** Names of the folders in the folder at `path` of which any listing or change is saved. */
  foldersIn(path: string): Set<string> {
    const names = new Set(this.#guarded('read', () => storedFoldersIn(this.#db, path)))
    for (const known of [...this.#unsaved.keys(), ...this.#changes.keys()])
      if (known !== path && isAtOrUnder(known, path)) names.add(nameBelow(path, known))
    return names
  }

  /** Changes that the service agreed to after `at` (ms since 1970). Asked before this run saves anything. */
  agreedAfter(at: number): Change[] {
    return (
      this.#guarded('read', () => {
        const db = this.#db
        if (db === undefined || !hasColumn(db, 'changed', 'agreed_at')) return []
        return changesOf(db.prepare('select * from changed where agreed_at > ?').all(at))
      }) ?? []
    )
  }

  /**
   * Saves a listing, delayed, together with others. Earlier changes are in it, or are reported again by `changed`, but for those of the
   * names in `staying`, which stay as they are.
   */
  save(path: string, names: Names, staying: readonly string[] = []): void {
    this.#gone.delete(path)
    if (this.#db === undefined) return
    if (names.size > mostSavedNames) return void this.#write((db) => dropOver(db, this.#overAt, path))
    const stay = staying.length === 0 ? [] : this.#changesAt(path, staying)
    this.#changes.delete(path)
    for (const change of stay) this.#note(change)
    this.#unsaved.set(path, names)
    this.#timer ??= this.#clock.setTimeout(() => this.flush(), saveAfterMs).unref()
  }

  /** Saves a change, delayed: the record now at the name, undefined for none. Not told of a folder that was never listed. */
  changed(folder: string, name: string, record: ListedRecord | undefined, agreed?: Agreed): void {
    if (this.#db === undefined) return
    this.#note({ folder, name, record, agreed })
    this.#changesTimer ??= this.#clock.setTimeout(() => this.flush(), saveChangesAfterMs).unref()
  }

  /**
   * Writes changes that the service has agreed to, at once. They are no longer in the journal: if a kill lost them, the
   * documents would be taken for another client's.
   */
  agreed(changes: readonly Change[]): void {
    for (const { folder, record } of changes)
      if (record !== undefined && this.#gone.delete(folder)) this.began(folder)
    const isWritten =
      !this.#isRefused &&
      this.#write((db) => {
        // A change is told only of a folder whose listing is written.
        for (const { folder } of changes) {
          const names = this.#unsaved.get(folder)
          if (names === undefined || isStored(db, folder)) continue
          writeListings(db, new Map([[folder, names]]))
          writeChanges(db, [...(this.#changes.get(folder)?.values() ?? [])])
        }
        writeChanges(db, changes)
      })
    for (const { folder, name, record, agreed } of changes) {
      // An unsaved listing will replace what was just written, so the change is written once more after it.
      if (!isWritten || this.#unsaved.has(folder)) this.changed(folder, name, record, agreed)
      else this.#changes.get(folder)?.delete(name)
    }
  }

  /** Saves an empty listing for a folder that was created here and is in the service now. */
  began(path: string): void {
    if (this.#db === undefined || this.load(path) !== undefined) return
    const empty = new Map([[path, new Map<string, ListedRecord>()]])
    if (!this.#isRefused && this.#write((db) => writeListings(db, empty))) return
    this.#unsaved.set(path, new Map())
    this.#changesTimer ??= this.#clock.setTimeout(() => this.flush(), saveChangesAfterMs).unref()
  }

  /**
   * Forgets a folder that is gone from the service, and all below it: a later folder of its name is another one. `at`: when it was
   * removed here (ms since 1970).
   */
  gone(path: string, at?: number): void {
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
    const agreed = at === undefined ? undefined : { at }
    this.agreed([{ folder: folderOf(path), name: nameOf(path), record: undefined, agreed }])
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
    // A listing may arrive later; the use of a closed database would end the process.
    this.#db = undefined
    this.#guarded('closed', () => db?.close())
  }

  /** Writes all unsaved listings and changes now. */
  flush(): void {
    this.#clock.clear(this.#timer)
    this.#clock.clear(this.#changesTimer)
    this.#timer = undefined
    this.#changesTimer = undefined
    this.#earlier = undefined
    if ((this.#unsaved.size === 0 && this.#changes.size === 0) || this.#db === undefined) return
    const isWritten = this.#write((db) => {
      writeListings(db, this.#unsaved)
      for (const changes of this.#changes.values()) writeChanges(db, [...changes.values()])
    })
    if (!isWritten && this.#db !== undefined) {
      this.#dropOldest()
      return
    }
    this.#unsaved.clear()
    this.#changes.clear()
  }

  /** Runs `work` in a transaction. False where that fails. */
  #write(work: (db: Database.Database) => void): boolean {
    const db = this.#db
    if (db === undefined) return false
    const isWritten = this.#guarded('written', () => {
      try {
        // Takes the lock before any statement: libsql does not reset one refused by a lock, and no later commit would succeed.
        db.exec('begin immediate')
        if (!this.#hasBegun) beginRun(db, this.#overAt)
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

  /** Notes an unsaved change. */
  #note(change: Change): void {
    const { folder, name } = change
    const changes = this.#changes.get(folder) ?? new Map<string, Change>()
    changes.set(name, { ...change, agreed: change.agreed ?? changes.get(name)?.agreed })
    this.#changes.set(folder, changes)
  }

  #changesAt(folder: string, names: readonly string[]): Change[] {
    const waiting = this.#changes.get(folder) ?? new Map<string, Change>()
    const sql = 'select * from changed where folder = ? and name in (select value from json_each(?))'
    const stored = this.#guarded('read', () =>
      changesOf(
        this.#db?.prepare(sql).all(folder, JSON.stringify(names.filter((name) => !waiting.has(name)))),
      ),
    )
    return [...(stored ?? []), ...names.flatMap((name) => waiting.get(name) ?? [])]
  }

  /** No listing lags any more behind what was agreed before then (ms since 1970). */
  get #overAt(): number {
    return this.#clock.wall() - lagsAtMostMs
  }

  /**
   * Drops the oldest unsaved listings and changes if they are too many, so that a disk that stays full does not fill the
   * memory, too. The others are written with the next ones.
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

  /** The folder at `path` and those below of which a listing is saved. */
  #savedUnder(path: string): string[] {
    const stored = this.#guarded('read', () =>
      this.#db?.prepare(`select path from listing where ${isUnder('path')}`).all([path]),
    )
    const waiting = [...this.#unsaved.keys()].filter((known) => isAtOrUnder(known, path))
    return [...((stored ?? []) as { path: string }[]).map((row) => row.path), ...waiting]
  }

  #storedEarlier(path: string, isOfAny: boolean): Map<string, ListedRecord> | undefined {
    const db = this.#db
    if (db === undefined || !this.#hasBegun || isOfAny) return this.#stored(path)
    if (db.prepare('select 1 from earlier_listing where path = ?').get(path) !== undefined)
      return this.#stored(path, 'earlier_')
    const isOfThisRun = db.prepare('select 1 from listing where path = ? and run = ?').get(path, runOf(db))
    return isOfThisRun === undefined ? this.#stored(path) : undefined
  }

  #stored(path: string, prefix: '' | 'earlier_' = ''): Map<string, ListedRecord> | undefined {
    const row = this.#db?.prepare(`select names from ${prefix}listing where path = ?`).get(path) as
      | { names: string }
      | undefined
    if (row === undefined) return undefined
    const found = byName((JSON.parse(row.names) as Entry[]).map(recordOf))
    const changes =
      this.#db?.prepare(`select name, entry from ${prefix}changed where folder = ?`).all(path) ?? []
    for (const { name, entry } of changes as { name: string; entry: string | null }[])
      put(found, name, entry === null ? undefined : recordOf(JSON.parse(entry) as Entry))
    return found
  }

  /** Runs `work`; logs a failure, and returns undefined then. Creates a damaged file again. `done`: participle for the log. */
  #guarded<T>(done: string, work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#log.warn({ file: this.#path, error: String(error) }, `the saved listings could not be ${done}`)
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
    // Not WAL, which needs shared memory: on a full disk, a missing page of it would end the process. And no lock that
    // outlives a transaction, since libsql closes a database only when its statements were garbage-collected.
    db.exec('pragma journal_mode = truncate')
    db.exec('pragma synchronous = off')
    db.exec('create table if not exists listing (path text primary key, names text not null) without rowid')
    // `entry`: like one of `names`; null for a name without a record.
    db.exec(`create table if not exists changed
      (folder text not null, name text not null, entry text, primary key (folder, name)) without rowid`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Prepares the tables at this run's first write: earlier runs' listings of folders listed again are kept until the next run. */
function beginRun(db: Database.Database, overAt: number): void {
  if (!hasColumn(db, 'listing', 'run'))
    db.exec('alter table listing add column run integer not null default 0')
  if (!hasColumn(db, 'changed', 'agreed_at'))
    db.exec('alter table changed add column agreed_at integer; alter table changed add column highest text')
  dropOver(db, overAt)
  db.exec('drop table if exists earlier_listing; drop table if exists earlier_changed')
  db.exec('create table earlier_listing (path text primary key, names text not null) without rowid')
  db.exec(`create table earlier_changed
    (folder text not null, name text not null, entry text, primary key (folder, name)) without rowid`)
  db.exec(`pragma user_version = ${runOf(db) + 1}`)
}

function hasColumn(db: Database.Database, table: string, column: string): boolean {
  const columns = db.prepare(`pragma table_info(${table})`).all() as { name: string }[]
  return columns.some(({ name }) => name === column)
}

/** Drops changes of folders of which no listing is written: in this one, or in all. `overAt`: those agreed since then stay (ms since 1970). */
function dropOver(db: Database.Database, overAt: number, folder?: string): void {
  const isListed = 'exists (select 1 from listing where path = folder)'
  const isOver = `coalesce(agreed_at, 0) < ? and not ${isListed}`
  if (folder === undefined) db.prepare(`delete from changed where ${isOver}`).run(overAt)
  else db.prepare(`delete from changed where ${isOver} and folder = ?`).run(overAt, folder)
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
    `insert into changed (folder, name, entry, agreed_at, highest) values (?, ?, ?, ?, ?) on conflict (folder, name)
     do update set entry = excluded.entry, agreed_at = coalesce(excluded.agreed_at, agreed_at), highest = excluded.highest`,
  )
  for (const { folder, name, record, agreed } of changes) {
    const entry = record === undefined ? null : JSON.stringify(entryOf(record))
    insert.run(folder, name, entry, agreed?.at ?? null, agreed?.highest ?? null)
  }
}

/** Changes of rows of `changed`. */
function changesOf(rows: readonly unknown[] = []): Change[] {
  return (rows as ChangeRow[]).map(({ folder, name, entry, agreed_at: at, highest }) => ({
    folder,
    name,
    record: entry === null ? undefined : recordOf(JSON.parse(entry) as Entry),
    agreed: typeof at === 'number' ? { at, highest: highest ?? undefined } : undefined,
  }))
}

/** SQL condition for the path itself and all that begin with `path/` (`0` is the character after `/`). */
function isUnder(column: string): string {
  return `(${column} = ?1 or (${column} >= ?1 || '/' and ${column} < ?1 || '0'))`
}

/** Names of saved folders directly below; one query for each, however many are below it. */
function storedFoldersIn(db: Database.Database | undefined, folder: string): string[] {
  const names: string[] = []
  const below = pathBelow(folder, '')
  const next = db?.prepare('select path from listing where path >= ? and path < ? limit 1')
  // `0` is the character after `/`, and `\u0001` the first that a name can have.
  const end = `${below.slice(0, -1)}0`
  let from = `${below}\u0001`
  for (;;) {
    const row = next?.get(from, end) as { path: string } | undefined
    if (row === undefined) return names
    const name = nameBelow(folder, row.path)
    names.push(name)
    // In the order of paths, other names may come between a folder and its content.
    from = row.path === below + name ? `${row.path}\u0001` : `${below}${name}0`
  }
}

function byName(records: Iterable<ListedRecord>): Map<string, ListedRecord> {
  return new Map(Array.from(records, (record) => [record.name, record]))
}

function put(names: Map<string, ListedRecord>, name: string, record: ListedRecord | undefined): void {
  if (record === undefined) names.delete(name)
  else names.set(name, { ...record, name })
}

interface ChangeRow {
  readonly folder: string
  readonly name: string
  readonly entry: string | null
  /** Undefined in a file of an earlier docmount. */
  readonly agreed_at: number | null | undefined
  readonly highest: string | null | undefined
}

type Entry = [string, number | null, string | null, string | null] | [string]

/** `[name]` for a folder, `[name, size, modifiedAt, mimetype]` for a file. */
function entryOf(record: ListedRecord): unknown[] {
  if (record.kind === 'folder') return [record.name]
  return [record.name, record.size ?? null, record.modifiedAt ?? null, record.mimetype ?? null]
}

function recordOf(entry: Entry): ListedRecord {
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
