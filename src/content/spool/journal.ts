// The journal: intentions and everything else that is true only on this machine (folders made here, scratch files, modes
// and times set here). One libsql database per mount in WAL mode. What is written survives a kill at once, and a power cut
// once `durable` resolves: one fsync for all that wait, off the event loop.

import { closeSync, fdatasync as fdatasyncCallback, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'libsql'
import { ErrnoError } from '../../errno-error.ts'
import { GroupSync } from './group-sync.ts'
import type { Intention, IntentionKind } from '../intention.ts'
import { reserveRoom } from './journal-room.ts'

const fdatasync = promisify(fdatasyncCallback)

const schema = `
create table if not exists intention (
  id integer primary key, kind text not null, path text not null, spool text, size integer, source text,
  source_fingerprint text, keep_source integer not null, base text, in_doubt integer not null, doubts text not null, proven integer not null,
  not_before integer not null, attempts integer not null, last_error text, refused integer not null, since integer not null);
create table if not exists content (spool text primary key, bytes blob not null);
create table if not exists folder (path text primary key) without rowid;
create table if not exists scratch (path text primary key, spool text, reference text, reference_fingerprint text,
  reference_size integer) without rowid;
create table if not exists attribute (path text primary key, fingerprint text not null, mode integer, mtime_sec integer,
  mtime_nsec integer) without rowid;
create table if not exists counter (name text primary key, value integer not null) without rowid;
`

interface IntentionRow {
  id: number
  kind: IntentionKind
  path: string
  spool: string | null
  size: number | null
  source: string | null
  source_fingerprint: string | null
  keep_source: number
  base: string | null
  in_doubt: number
  doubts: string
  proven: number
  not_before: number
  attempts: number
  last_error: string | null
  refused: number
  since: number
}

/** A local-only file: its own content, or a reference to a version the service still has. */
export interface ScratchRow {
  readonly path: string
  readonly spool: string | undefined
  readonly reference:
    | { readonly path: string; readonly fingerprint: string; readonly size: number | undefined }
    | undefined
}

/** Mode and times set here; they hold while the document's fingerprint is this one. */
export interface AttributeRow {
  readonly path: string
  readonly fingerprint: string
  readonly mode: number | undefined
  readonly mtime: { readonly sec: number; readonly nsec: number } | undefined
}

export class Journal {
  readonly #lock: Database.Database
  readonly #db: Database.Database
  /** The write-ahead log's file: the same one for as long as the database is open. */
  readonly #log: number
  readonly #logSync: GroupSync
  readonly #statements = new Map<string, Database.Statement>()
  #lastId: number

  /** Opens or makes the journal in `stateDir`. Throws EBUSY when another daemon has it. */
  constructor(stateDir: string) {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 })
    this.#lock = lockFolder(stateDir)
    this.#db = new Database(join(stateDir, 'journal.db'))
    this.#db.exec('pragma journal_mode = wal')
    // Commits write the log, `durable` syncs it; checkpoints sync both by themselves.
    this.#db.exec('pragma synchronous = normal')
    this.#db.exec(schema)
    this.#log = openSync(join(stateDir, 'journal.db-wal'), 'r+')
    reserveRoom(this.#db, this.#log)
    this.#logSync = new GroupSync(() => fdatasync(this.#log))
    const row = this.#get('select max(id) as id from intention') as { id: number | null }
    this.#lastId = row.id ?? 0
  }

  /** Resolves when everything written so far survives a power cut. */
  durable(): Promise<void> {
    return this.#logSync.run()
  }

  nextId(): number {
    return ++this.#lastId
  }

  /** All or nothing. */
  transaction<T>(body: () => T): T {
    if (this.#db.inTransaction) return body()
    this.#run('begin immediate')
    try {
      const result = body()
      this.#run('commit')
      return result
    } catch (error) {
      if (this.#db.inTransaction) this.#run('rollback')
      throw error
    }
  }

  /** Every open intention, oldest first. */
  intentions(): Intention[] {
    return (this.#all('select * from intention order by id') as IntentionRow[]).map(intentionOf)
  }

  saveIntention(i: Intention): void {
    this.#run(
      'insert or replace into intention values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)',
      i.id, i.kind, i.path, i.spool ?? null, i.size ?? null, i.source ?? null, i.sourceFingerprint ?? null,
      Number(i.keepSource ?? false), i.base ?? null, Number(i.isInDoubt), JSON.stringify(i.doubts), Number(i.isProven), i.notBefore, i.attempts,
      i.lastError ?? null, Number(i.isRefused), i.since,
    ) // prettier-ignore
  }

  removeIntention(id: number): void {
    this.#run('delete from intention where id = ?', id)
  }

  /** Small content, by the id of its spool file: it is as durable as the intention that is journaled with it. */
  contents(): { spool: string; bytes: Uint8Array }[] {
    const rows = this.#all('select * from content') as { spool: string; bytes: ArrayBuffer }[]
    return rows.map(({ spool, bytes }) => ({ spool, bytes: new Uint8Array(bytes) }))
  }

  saveContent(spool: string, bytes: Uint8Array): void {
    this.#run('insert or replace into content values (?,?)', spool, bytes)
  }

  removeContent(spool: string): void {
    this.#run('delete from content where spool = ?', spool)
  }

  folders(): string[] {
    return (this.#all('select path from folder order by path') as { path: string }[]).map((row) => row.path)
  }

  saveFolder(path: string): void {
    this.#run('insert or ignore into folder values (?)', path)
  }

  removeFolder(path: string): void {
    this.#run('delete from folder where path = ?', path)
  }

  scratchFiles(): ScratchRow[] {
    const rows = this.#all('select * from scratch order by path') as {
      path: string
      spool: string | null
      reference: string | null
      reference_fingerprint: string | null
      reference_size: number | null
    }[]
    return rows.map((row) => ({
      path: row.path,
      spool: row.spool ?? undefined,
      reference:
        row.reference === null
          ? undefined
          : {
              path: row.reference,
              fingerprint: row.reference_fingerprint ?? '',
              size: row.reference_size ?? undefined,
            },
    }))
  }

  saveScratch(row: ScratchRow): void {
    const { reference } = row
    this.#run(
      'insert or replace into scratch values (?,?,?,?,?)',
      row.path, row.spool ?? null, reference?.path ?? null, reference?.fingerprint ?? null, reference?.size ?? null,
    ) // prettier-ignore
  }

  removeScratch(path: string): void {
    this.#run('delete from scratch where path = ?', path)
  }

  attributes(): AttributeRow[] {
    const rows = this.#all('select * from attribute') as {
      path: string
      fingerprint: string
      mode: number | null
      mtime_sec: number | null
      mtime_nsec: number | null
    }[]
    return rows.map((row) => ({
      path: row.path,
      fingerprint: row.fingerprint,
      mode: row.mode ?? undefined,
      mtime: row.mtime_sec === null ? undefined : { sec: row.mtime_sec, nsec: row.mtime_nsec ?? 0 },
    }))
  }

  saveAttributes(row: AttributeRow): void {
    this.#run(
      'insert or replace into attribute values (?,?,?,?,?)',
      row.path, row.fingerprint, row.mode ?? null, row.mtime?.sec ?? null, row.mtime?.nsec ?? null,
    ) // prettier-ignore
  }

  removeAttributes(path: string): void {
    this.#run('delete from attribute where path = ?', path)
  }

  counter(name: string): number {
    const row = this.#get('select value from counter where name = ?', name) as { value: number } | undefined
    return row?.value ?? 0
  }

  increment(name: string): void {
    this.#run('insert into counter values (?, 1) on conflict (name) do update set value = value + 1', name)
  }

  close(): void {
    this.#statements.clear()
    closeSync(this.#log)
    this.#db.close()
    this.#lock.close()
  }

  #statement(sql: string): Database.Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  #run(sql: string, ...values: unknown[]): void {
    this.#statement(sql).run(...values)
  }

  #get(sql: string, ...values: unknown[]): unknown {
    return this.#statement(sql).get(...values)
  }

  #all(sql: string, ...values: unknown[]): unknown[] {
    return this.#statement(sql).all(...values)
  }
}

/**
 * Holds an exclusive transaction open for as long as the journal is: it ends with the process, however that ends. In a
 * database of its own, without prepared statements, which would keep the connection open until they are collected.
 */
function lockFolder(stateDir: string): Database.Database {
  const lock = new Database(join(stateDir, 'lock.db'))
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw new ErrnoError('EBUSY', `another docmount uses the state folder ${stateDir}: unmount it first`, {
      cause: error,
    })
  }
}

function intentionOf(row: IntentionRow): Intention {
  return {
    id: row.id,
    kind: row.kind,
    path: row.path,
    spool: row.spool ?? undefined,
    size: row.size ?? undefined,
    source: row.source ?? undefined,
    sourceFingerprint: row.source_fingerprint ?? undefined,
    keepSource: row.keep_source === 1,
    base: row.base ?? undefined,
    // Whatever was on its way when the last run ended may have arrived.
    isInDoubt: true,
    doubts: JSON.parse(row.doubts) as Intention['doubts'],
    isProven: row.proven === 1,
    notBefore: row.not_before,
    attempts: row.attempts,
    triedForMs: 0,
    lastError: row.last_error ?? undefined,
    isRefused: row.refused === 1,
    since: row.since,
  }
}
