// The journal: intentions and everything else that is true only on this machine (folders made here, scratch files, modes
// and times set here). One libsql database per mount in WAL mode. What is written survives a kill at once, and a power cut
// once `durable` resolves: one fsync for all that wait, off the event loop.

import { closeSync, fdatasync as fdatasyncCallback, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'libsql'
import { ErrnoError } from '../../errno-error.ts'
import { GroupSync } from './group-sync.ts'
import type { Intention } from '../intention.ts'
import { migrate, schemaVersion, versionOf } from './journal-migrations.ts'
import { reserveRoom } from './journal-room.ts'
import { checkTables, isDamage, setAside, takeOver } from './journal-salvage.ts'
import {
  attributesOfRow,
  intentionOf,
  isSealed,
  rowOfAttributes,
  rowOfIntention,
  rowOfScratch,
  scratchOf,
  type AttributeRow,
  type ConflictRow,
  type Row,
  type ScratchRow,
} from './journal-rows.ts'
import { makePrivateDatabase } from './private-file.ts'
import { lockStateFolder } from './state-lock.ts'

const fdatasync = promisify(fdatasyncCallback)

/** What nobody asked to be durable is so after this long: a delete, a folder, a time that was set. */
const syncWithinMs = 1_000
/** So long another program that holds the database is waited for. Nothing else goes on meanwhile, but a save does not fail. */
const busyTimeoutMs = 5_000

/** So many files that were removed are remembered, in case a power cut brings them back. */
const mostDropped = 5_000

const rowOfPut = (id: number): string => `intention ${id}`
const rowOfScratchAt = (path: string): string => `scratch ${path}`

/** True for a row that is an intention: what it names is to be sent, and must not change. */
export function isIntentionRow(row: string): boolean {
  return row.startsWith('intention ')
}

/** The row of a local-only file. */
export { rowOfScratchAt }

export class Journal {
  readonly #lock: { close(): void }
  readonly #db: Database.Database
  /** The write-ahead log's file: the same one for as long as the database is open. */
  readonly #log: number
  readonly #logSync: GroupSync
  #syncTimer: NodeJS.Timeout | undefined
  /** What is to be done once everything written so far survives a power cut. */
  #onceDurable: (() => void)[] = []
  readonly #statements = new Map<string, Database.Statement>()
  /** The spool file that each row names. */
  readonly #named = new Map<string, string>()
  /** What is to be done once the transaction under way is on disk. */
  #afterCommit: (() => void)[] = []
  /** What memory did on the strength of the transaction under way, undone where it fails. */
  #undo: (() => void)[] = []
  #isInTransaction = false
  #isClosed = false
  #lastId: number
  /** What was found damaged at the start, and what was done about it, one sentence each. */
  readonly damage: string[] = []
  /** Told once it is true on disk: the row names this spool file now, or none. */
  onNamed: (row: string, spool: string | undefined) => void = () => {}

  /** Opens or makes the journal in `stateDir`. Throws EBUSY when another daemon has it, ENOTSUP when a newer docmount wrote it. */
  constructor(stateDir: string) {
    this.#lock = lockStateFolder(stateDir)
    try {
      this.#db = this.#openSoundly(join(stateDir, 'journal.db'), stateDir)
      this.#log = openSync(join(stateDir, 'journal.db-wal'), 'r+')
    } catch (error) {
      this.#lock.close()
      throw error
    }
    reserveRoom(this.#db, this.#log)
    this.#logSync = new GroupSync(() => fdatasync(this.#log))
    this.#leaveOutDamagedRows()
    const row = this.#get('select max(id) as id from intention') as { id: number | null }
    this.#lastId = row.id ?? 0
    this.#loadNamed()
  }

  #openSoundly(path: string, stateDir: string): Database.Database {
    try {
      return openDatabase(path, stateDir)
    } catch (error) {
      if (!isDamage(error)) throw error
      const { aside, rows } = setAside(path, new Date())
      const db = openDatabase(path, stateDir)
      const count = takeOver(db, rows)
      this.damage.push(`the journal was damaged: set aside as ${aside}, ${count} of its rows could be read`)
      return db
    }
  }

  /** What they stood for is found by its content. */
  #leaveOutDamagedRows(): void {
    for (const row of this.#all('select * from intention')) {
      if (isSealed(row)) continue
      this.#run('delete from intention where id = ?', row['id'])
      this.damage.push('a row of the journal was damaged and is left out')
    }
  }

  /** Resolves when everything written so far survives a power cut. */
  async durable(): Promise<void> {
    this.#checkOpen()
    const steps = this.#onceDurable
    this.#onceDurable = []
    try {
      await this.#logSync.run()
    } catch (error) {
      this.#onceDurable.unshift(...steps)
      throw error
    }
    for (const step of steps) step()
  }

  /** Runs `step` when everything written so far survives a power cut: with whoever asks for that next, in a second else. */
  onceDurable(step: () => void): void {
    this.#onceDurable.push(step)
    this.#syncSoon()
  }

  nextId(): number {
    return ++this.#lastId
  }

  /** All or nothing. */
  transaction<T>(body: () => T): T {
    if (this.#isInTransaction) return body()
    this.#checkOpen()
    // Not a kept statement: libsql does not reset one that another program's lock refused, and no later commit would succeed.
    this.#db.exec('begin immediate')
    this.#isInTransaction = true
    let result: T
    try {
      result = body()
      this.#db.exec('commit')
      this.#isInTransaction = false
    } catch (error) {
      this.#isInTransaction = false
      if (this.#db.inTransaction) this.#db.exec('rollback')
      this.#afterCommit = []
      this.#loadNamed()
      const undo = this.#undo
      this.#undo = []
      for (const step of undo.toReversed()) step()
      throw error
    }
    this.#undo = []
    const after = this.#afterCommit
    this.#afterCommit = []
    for (const step of after) step()
    return result
  }

  /** Runs `step` when the transaction under way is on disk, never where it is rolled back; at once where there is none. */
  afterCommit(step: () => void): void {
    if (this.#isInTransaction) this.#afterCommit.push(step)
    else step()
  }

  /** Runs `undo`, the latest first, where the transaction under way is rolled back: memory says what the journal says. */
  onRollback(undo: () => void): void {
    if (this.#isInTransaction) this.#undo.push(undo)
  }

  /** The rows that name a spool file, with its id. */
  named(): ReadonlyMap<string, string> {
    return this.#named
  }

  #loadNamed(): void {
    this.#named.clear()
    for (const { id, spool } of this.#all('select id, spool from intention where spool is not null'))
      this.#named.set(rowOfPut(Number(id)), String(spool))
    for (const { path, spool } of this.#all('select path, spool from scratch where spool is not null'))
      this.#named.set(rowOfScratchAt(String(path)), String(spool))
  }

  /** The row names another spool file from now on, or none. Part of the transaction that changes the row. */
  #name(row: string, spool: string | undefined): void {
    const before = this.#named.get(row)
    if (before === spool) return
    if (before !== undefined) this.drop(before)
    if (spool === undefined) this.#named.delete(row)
    else this.#named.set(row, spool)
    this.afterCommit(() => this.onNamed(row, spool))
  }

  /** Nothing is lost with this spool file, unless a row still names it: should it be found after a crash, it may go. */
  drop(spool: string): void {
    const { lastInsertRowid } = this.#run('insert into dropped (spool) values (?)', spool)
    // A removed file that a power cut brings back was removed a moment before it.
    if (Number(lastInsertRowid) % 1000 === 0)
      this.#run('delete from dropped where id <= ?', Number(lastInsertRowid) - mostDropped)
  }

  /** It is of use again. */
  keep(spool: string): void {
    this.#run('delete from dropped where spool = ?', spool)
  }

  /** Spool files that are of no use any more. */
  dropped(): Set<string> {
    return new Set(this.#all('select spool from dropped').map(({ spool }) => String(spool)))
  }

  forgetDropped(): void {
    this.#run('delete from dropped')
  }

  /** Every open intention, oldest first. */
  intentions(): Intention[] {
    return this.#all('select * from intention order by id').map(intentionOf)
  }

  saveIntention(intention: Intention): void {
    this.transaction(() => {
      this.#save('intention', rowOfIntention(intention))
      this.#name(rowOfPut(intention.id), intention.spool)
    })
  }

  removeIntention(id: number): void {
    this.transaction(() => {
      this.#run('delete from intention where id = ?', id)
      this.#name(rowOfPut(id), undefined)
    })
  }

  /** Small content, by the id of its spool file: it is as durable as the intention that is journaled with it. */
  contents(): { spool: string; bytes: Uint8Array }[] {
    const rows = this.#all('select spool, bytes from content') as unknown as {
      spool: string
      bytes: ArrayBuffer
    }[]
    return rows.map(({ spool, bytes }) => ({ spool, bytes: new Uint8Array(bytes) }))
  }

  saveContent(spool: string, bytes: Uint8Array): void {
    this.#save('content', { spool, bytes })
  }

  removeContent(spool: string): void {
    this.#run('delete from content where spool = ?', spool)
  }

  folders(): string[] {
    return this.#all('select path from folder order by path').map((row) => String(row['path']))
  }

  saveFolder(path: string): void {
    this.#save('folder', { path })
  }

  removeFolder(path: string): void {
    this.#run('delete from folder where path = ?', path)
  }

  scratchFiles(): ScratchRow[] {
    return this.#all('select * from scratch order by path').map(scratchOf)
  }

  saveScratch(row: ScratchRow): void {
    this.transaction(() => {
      this.#save('scratch', rowOfScratch(row))
      this.#name(rowOfScratchAt(row.path), row.spool)
    })
  }

  removeScratch(path: string): void {
    this.transaction(() => {
      this.#run('delete from scratch where path = ?', path)
      this.#name(rowOfScratchAt(path), undefined)
    })
  }

  attributes(): AttributeRow[] {
    return this.#all('select * from attribute').map(attributesOfRow)
  }

  saveAttributes(row: AttributeRow): void {
    this.#save('attribute', rowOfAttributes(row))
  }

  removeAttributes(path: string): void {
    this.#run('delete from attribute where path = ?', path)
  }

  /** Oldest first. */
  conflicts(): ConflictRow[] {
    return this.#all('select * from conflict order by at').map((row) => ({
      path: String(row['path']),
      copy: String(row['copy']),
      at: Number(row['at']),
    }))
  }

  saveConflict({ path, copy, at }: ConflictRow): void {
    this.#save('conflict', { copy, path, at })
  }

  removeConflict(copy: string): void {
    this.#run('delete from conflict where copy = ?', copy)
  }

  counter(name: string): number {
    const row = this.#get('select value from counter where name = ?', name) as { value: number } | undefined
    return row?.value ?? 0
  }

  increment(name: string): void {
    this.#run(
      'insert into counter (name, value) values (?, 1) on conflict (name) do update set value = value + 1',
      name,
    )
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#syncTimer)
    this.#statements.clear()
    closeSync(this.#log)
    this.#db.close()
    this.#lock.close()
  }

  /** A closed database that is used ends the process. */
  #checkOpen(): void {
    if (this.#isClosed) throw new ErrnoError('EIO', 'the drive has ended: its journal is closed')
  }

  #statement(sql: string): Database.Statement {
    this.#checkOpen()
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Always in a transaction: only its beginning may meet another program's lock. */
  #run(sql: string, ...values: unknown[]): Database.RunResult {
    const result = this.transaction(() => this.#statement(sql).run(...values))
    this.#syncSoon()
    return result
  }

  #syncSoon(): void {
    this.#syncTimer ??= setTimeout(() => this.#syncInTime(), syncWithinMs).unref()
  }

  #syncInTime(): void {
    this.#syncTimer = undefined
    // Who needs to know asks for it, and is told.
    this.durable().catch(() => {})
  }

  #get(sql: string, ...values: unknown[]): unknown {
    return this.#statement(sql).get(...values)
  }

  #all(sql: string, ...values: unknown[]): Row[] {
    return this.#statement(sql).all(...values) as Row[]
  }

  /** One row, every value under its column's name: the order of columns depends on a journal's history. */
  #save(table: string, row: Row): void {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join()
    this.#run(`insert or replace into ${table} (${columns.join()}) values (${places})`, ...Object.values(row))
  }
}

function openDatabase(path: string, stateDir: string): Database.Database {
  makePrivateDatabase(path)
  const db = new Database(path, { timeout: busyTimeoutMs })
  try {
    // Before anything is written: a journal this docmount does not understand stays as it is.
    const version = versionOf(db, stateDir)
    db.exec('pragma journal_mode = wal')
    // Commits write the log, `durable` syncs it; checkpoints sync both by themselves.
    db.exec('pragma synchronous = normal')
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
