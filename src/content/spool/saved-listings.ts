// The last listing of each folder, kept across restarts, so that a project can be mounted while the service is down. A
// cache: written lazily, without fsync, and without presigned URLs, which are secrets and dead by then anyway. Whatever
// happens to its file, the drive goes on: it is made anew, or done without until the next start.

import type { Timer, Timers } from '../../world/clock.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import type { Log } from '../../log.ts'
import { isDamage } from './journal-salvage.ts'
import { makePrivateDatabase } from './private-file.ts'

const saveAfterMs = 2_000
/** A folder of more names than this is asked for again rather than saved. */
export const mostSavedNames = 50_000

type Told = RemoteFile | RemoteFolder

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
  #timer: Timer | undefined

  constructor(stateDir: string, log: Log, timers: Timers) {
    this.#path = join(stateDir, 'listings.db')
    this.#log = log
    this.#timers = timers
    this.#db = this.#guarded('opened', () => open(this.#path)) ?? this.#madeAnew()
  }

  /** What the folder at `path` held when it was last listed. */
  load(path: string): readonly Told[] | undefined {
    const unsaved = this.#unsaved.get(path)
    if (unsaved !== undefined) return [...unsaved.values()]
    return this.#guarded('read', () => {
      const row = this.#db?.prepare('select names from listing where path = ?').get(path) as
        | { names: string }
        | undefined
      if (row === undefined) return undefined
      const entries = JSON.parse(row.names) as [string, number | null, string | null, string | null][]
      return entries.map(recordOf)
    })
  }

  /** Keeps a listing for the next start, a little later, many at once. */
  save(path: string, names: Names): void {
    if (names.size > mostSavedNames || this.#db === undefined) return
    this.#unsaved.set(path, names)
    this.#timer ??= this.#timers.setTimeout(() => this.flush(), saveAfterMs).unref()
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
    this.#timer = undefined
    const db = this.#db
    if (this.#unsaved.size === 0 || db === undefined) return
    this.#guarded('written', () => {
      try {
        db.exec('begin')
        const insert = db.prepare('insert or replace into listing (path, names) values (?, ?)')
        for (const [path, names] of this.#unsaved)
          insert.run(path, JSON.stringify(Array.from(names.values(), entryOf)))
        db.exec('commit')
      } finally {
        if (db.inTransaction) db.exec('rollback')
      }
    })
    // What could not be written is told again by the next listing.
    this.#unsaved.clear()
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
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** `[name]` for a folder, `[name, size, modifiedAt, mimetype]` for a file. */
function entryOf(record: Told): unknown[] {
  if (record.kind === 'folder') return [record.name]
  return [record.name, record.size ?? null, record.modifiedAt ?? null, record.mimetype ?? null]
}

function recordOf(entry: [string, number | null, string | null, string | null] | [string]): Told {
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
