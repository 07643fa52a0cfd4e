// The last listing of each folder, kept across restarts, so that a project can be mounted while the service is down. A
// cache: written lazily, without fsync, and without presigned URLs, which are secrets and dead by then anyway.

import { join } from 'node:path'
import Database from 'libsql'
import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import { makePrivateDatabase } from './private-file.ts'

const saveAfterMs = 2_000
/** A folder of more names than this is asked for again rather than saved. */
const mostNames = 50_000

export type Names = ReadonlyMap<string, RemoteFile | RemoteFolder>

export class SavedListings {
  readonly #db: Database.Database
  readonly #unsaved = new Map<string, Names>()
  #timer: NodeJS.Timeout | undefined

  constructor(stateDir: string) {
    const path = join(stateDir, 'listings.db')
    makePrivateDatabase(path)
    this.#db = new Database(path)
    // No shared memory: on a full disk a page of it that cannot be had would end the process.
    this.#db.exec('pragma locking_mode = exclusive')
    this.#db.exec('pragma journal_mode = wal')
    this.#db.exec('pragma synchronous = off')
    this.#db.exec(
      'create table if not exists listing (path text primary key, names text not null) without rowid',
    )
  }

  /** What the folder at `path` held when it was last listed. */
  load(path: string): Map<string, RemoteFile | RemoteFolder> | undefined {
    const row = this.#db.prepare('select names from listing where path = ?').get(path) as
      | { names: string }
      | undefined
    if (row === undefined) return undefined
    const entries = JSON.parse(row.names) as [string, number | null, string | null, string | null][]
    return new Map(entries.map((entry) => [entry[0], recordOf(entry)]))
  }

  /** Keeps a listing for the next start, a little later, many at once. */
  save(path: string, names: Names): void {
    if (names.size > mostNames) return
    this.#unsaved.set(path, names)
    this.#timer ??= setTimeout(() => this.#write(), saveAfterMs).unref()
  }

  close(): void {
    this.#write()
    this.#db.close()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#unsaved.size === 0) return
    this.#db.exec('begin')
    const insert = this.#db.prepare('insert or replace into listing (path, names) values (?, ?)')
    for (const [path, names] of this.#unsaved)
      insert.run(path, JSON.stringify([...names.values()].map(entryOf)))
    this.#db.exec('commit')
    this.#unsaved.clear()
  }
}

/** `[name]` for a folder, `[name, size, modifiedAt, mimetype]` for a file. */
function entryOf(record: RemoteFile | RemoteFolder): unknown[] {
  if (record.kind === 'folder') return [record.name]
  return [record.name, record.size ?? null, record.modifiedAt ?? null, record.mimetype ?? null]
}

function recordOf(
  entry: [string, number | null, string | null, string | null] | [string],
): RemoteFile | RemoteFolder {
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
