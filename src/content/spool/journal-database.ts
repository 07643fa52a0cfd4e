// The database under the journal: one libsql file per mount in WAL mode, opened soundly, with transactions that memory
// follows, and one fsync for all that wait for it. Knows no table.

import type { Clock, Timer } from '../../world/clock.ts'
import type { Disk } from '../../world/disk.ts'
import type { World } from '../../world/world.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { bytesInPlace, knownFile, type KnownFile } from '../../known-file.ts'
import type Database from 'libsql'
import { ErrnoError } from '../../errno-error.ts'
import { BelievedSync } from './believed-sync.ts'
import { GroupSync } from './group-sync.ts'
import { areInPlace, companionsOf, syncNow, writeAnew } from './journal-anew.ts'
import { openDatabase, openSoundly } from './journal-opening.ts'
import { moveAside } from './journal-salvage.ts'
import { reserveRoom, writeAgain } from './journal-room.ts'
import type { Row } from './journal-rows.ts'
import { LogIndex } from './journal-index.ts'
import { refusalOf } from './journal-refusal.ts'
import { lockStateFolder, type StateLock } from './state-lock.ts'
import type { Undo } from './undo.ts'

/** What nobody asked to be durable is so after this long: a delete, a folder, a time that was set. */
const syncWithinMs = 1_000

export class JournalDatabase {
  readonly #clock: Clock
  readonly #disk: Disk
  readonly #stateDir: string
  readonly #path: string
  #lock: StateLock
  #db: Database.Database
  /** The write-ahead log's file: the same one for as long as the database is open. */
  #log: number
  /** And its index. */
  #index: LogIndex
  /** What is open, as it lay at its path: the database, and its log and index. */
  #file: KnownFile
  #companions: readonly KnownFile[]
  #made: readonly KnownFile[] = []
  /** Of the database's file, at least. */
  #bytes = 0
  #isLooking = false
  /** What was in it is gone, and not written anew yet. */
  #isLost = false
  readonly #logSync: GroupSync
  #syncTimer: Timer | undefined
  /** Transactions so far, and how many of them a sync has covered. */
  #changes = 0
  #synced = 0
  #believed = new BelievedSync()
  /** What is to be done once everything written so far survives a power cut. */
  #onceDurable: (() => void)[] = []
  readonly #statements = new Map<string, Database.Statement>()
  /** What is to be done once the transaction under way is on disk. */
  #afterCommit: (() => void)[] = []
  /** What memory did on the strength of the transaction under way, undone where it fails. */
  #undo: (() => void)[] = []
  /** What is put back as a whole already: it was like that before any later step. */
  readonly #remembered = new Set<Undo>()
  #isInTransaction = false
  /** What is to be written with something else. */
  #later: (() => void)[] = []
  #isClosed = false
  /** What was found damaged, and what was done about it, one sentence each. */
  readonly damage: string[] = []
  /** Told of what is found while it is open. */
  onDamage: (sentence: string) => void = () => {}
  /** Writes all of it anew, in a transaction, where what was written is lost. Absent: nobody can. */
  onLost: (() => void) | undefined
  /** Told of what a step threw that followed a transaction, or undid one: whoever asked for that was told what became of it. */
  onStepFailed: (error: unknown) => void = () => {}

  /** Opens or makes it in `stateDir`. Throws EBUSY when another daemon has it, ENOTSUP when a newer docmount wrote it. */
  constructor(stateDir: string, world: Pick<World, 'clock' | 'disk'>) {
    this.#clock = world.clock
    this.#disk = world.disk
    this.#stateDir = stateDir
    this.#path = join(stateDir, 'journal.db')
    this.#lock = lockStateFolder(stateDir, this.#disk)
    try {
      this.#db = openSoundly(this.#path, stateDir, this.#now(), (sentence) => this.damage.push(sentence))
      this.#log = this.#disk.openSync(`${this.#path}-wal`, 'r+')
      this.#index = new LogIndex(`${this.#path}-shm`)
      this.#file = knownFile(this.#path)
      this.#companions = companionsOf(this.#path)
    } catch (error) {
      this.#lock.close()
      throw error
    }
    this.#logSync = new GroupSync(() => this.#syncLog())
    this.#reserveRoom()
  }

  #reserveRoom(): void {
    try {
      reserveRoom(this.#db, this.#log)
    } finally {
      this.#bytes = statSync(this.#path).size
      this.#index.note()
    }
  }

  #now(): Date {
    return new Date(this.#clock.wall())
  }

  /**
   * The files that are open are looked for at their paths: nobody would find there what is written into them from now on. Where
   * they are not, the journal is made anew of what they hold, on disk when this returns. Throws where that cannot be.
   */
  look(): void {
    this.#look(() => areInPlace([...this.#companions, this.#lock.file]))
  }

  /** The same before each transaction, of what SQLite would trip over: what is written into the rest is found before it is durable. */
  #glance(): void {
    this.#look(() => true)
  }

  #look(areCompanionsThere: () => boolean): void {
    if (this.#isClosed || this.#isLooking) return
    this.#isLooking = true
    try {
      this.#index.check()
      if (this.#isLost) return this.#refill()
      const bytes = bytesInPlace(this.#file)
      if (bytes === undefined || !areCompanionsThere()) this.#makeAnew()
      // It is never made smaller.
      else if (bytes < this.#bytes || !this.#index.isAsNoted(this.#log)) this.#refill()
    } catch (error) {
      throw refusalOf(error, this.#stateDir)
    } finally {
      this.#isLooking = false
    }
  }

  get #files(): readonly KnownFile[] {
    return [this.#file, ...this.#companions]
  }

  #makeAnew(): void {
    // First: where another docmount has the folder by now, the journal in it is not ours.
    if (!areInPlace([this.#lock.file])) {
      const lock = lockStateFolder(this.#stateDir, this.#disk)
      this.#lock.close()
      this.#lock = lock
    }
    if (areInPlace(this.#files)) return
    const aside = writeAnew(this.#db, this.#path, [...this.#files, ...this.#made], this.#now())
    // Should it not open now, it is ours all the same.
    this.#made = [knownFile(this.#path)]
    this.#goOnWith(openDatabase(this.#path, this.#stateDir))
    const sentence =
      'the journal was taken away from the state folder while the drive was in use: made anew, with everything that is unsent' +
      (aside === undefined ? '' : `; what stood in its place is set aside as ${aside}`)
    this.#found(sentence)
  }

  /** The files are ours, and what is in them is not: written anew by whoever knows what is to be in it. */
  #refill(): void {
    if (this.onLost === undefined) return
    if (!this.#isLost) {
      this.#isLost = true
      this.#found(
        `the journal was written over while the drive was in use: set aside as ${moveAside(this.#path, this.#now())}, and made anew`,
      )
    }
    if (!areInPlace(this.#files)) this.#goOnWith(openDatabase(this.#path, this.#stateDir))
    this.transaction(this.onLost)
    syncNow(this.#stateDir)
    this.#isLost = false
  }

  #found(sentence: string): void {
    this.damage.push(sentence)
    this.onDamage(sentence)
  }

  #goOnWith(db: Database.Database): void {
    const before = { db: this.#db, log: this.#log, index: this.#index }
    try {
      this.#log = this.#disk.openSync(`${this.#path}-wal`, 'r+')
      this.#index = new LogIndex(`${this.#path}-shm`)
    } catch (error) {
      db.close()
      throw error
    }
    this.#db = db
    this.#file = knownFile(this.#path)
    this.#companions = companionsOf(this.#path)
    this.#statements.clear()
    this.#believed = new BelievedSync()
    this.#synced = this.#changes
    this.#reserveRoom()
    before.db.close()
    before.index.close()
    // A sync of it may be under way in the thread pool, and its number would soon be another file's.
    const close = (): void => this.#disk.closeSync(before.log)
    void this.#logSync.run().then(close, close)
  }

  /** Resolves when everything written so far survives a power cut. */
  async durable(): Promise<void> {
    this.#checkOpen()
    const steps = this.#onceDurable
    this.#onceDurable = []
    try {
      if (this.#synced < this.#changes) await this.#logSync.run()
      const log = this.#log
      this.look()
      if (this.#log !== log) await this.#logSync.run()
    } catch (error) {
      this.#onceDurable.unshift(...steps)
      throw error
    }
    this.#take(steps)
  }

  async #syncLog(): Promise<void> {
    const changes = this.#changes
    await this.#believed.run(
      () => this.#disk.fdatasync(this.#log),
      () => writeAgain(this.#log, this.#disk),
    )
    this.#synced = Math.max(this.#synced, changes)
  }

  /** Runs `step` when everything written so far survives a power cut: with whoever asks for that next, in a second else. */
  onceDurable(step: () => void): void {
    this.#onceDurable.push(step)
    this.#syncSoon()
  }

  /** All or nothing. */
  transaction<T>(body: () => T): T {
    if (this.#isInTransaction) return body()
    this.#checkOpen()
    this.#glance()
    let result: T
    try {
      // Not a kept statement: libsql does not reset one that another program's lock refused, and no later commit would succeed.
      this.#db.exec('begin immediate')
      this.#isInTransaction = true
      result = body()
      this.#db.exec('commit')
      this.#changes++
      this.#isInTransaction = false
    } catch (error) {
      this.#rollBack()
      throw refusalOf(error, this.#stateDir)
    }
    this.#forgetUndo()
    const after = this.#afterCommit
    this.#afterCommit = []
    this.#take([() => this.#index.note(), ...after])
    return result
  }

  #rollBack(): void {
    this.#isInTransaction = false
    this.#afterCommit = []
    const undo = this.#undo
    this.#forgetUndo()
    this.#take([() => this.#db.inTransaction && this.#db.exec('rollback'), ...undo.toReversed()])
  }

  /** Each of them, whatever another throws: what has happened has happened, and none of them waits for another. */
  #take(steps: readonly (() => unknown)[]): void {
    for (const step of steps) {
      try {
        step()
      } catch (error) {
        this.onStepFailed(error)
      }
    }
  }

  /** Writes by `step` what nobody waits for: within a second, or when `catchUp` is called. Its end before that must do no harm. */
  later(step: () => void): void {
    this.#later.push(step)
    this.#syncSoon()
  }

  /** Does what was left for later, in the transaction under way. */
  catchUp(): void {
    const steps = this.#later
    if (steps.length === 0) return
    this.#later = []
    this.transaction(() => {
      this.onRollback(() => this.#later.unshift(...steps))
      for (const step of steps) step()
    })
  }

  /** Runs `step` when the transaction under way is on disk, never where it is rolled back; at once where there is none. */
  afterCommit(step: () => void): void {
    if (this.#isInTransaction) this.#afterCommit.push(step)
    else step()
  }

  /** Runs `undo`, the latest first, where the transaction under way is rolled back: memory says what the journal says. */
  onRollback(undo: Undo): void {
    if (!this.#isInTransaction || this.#remembered.has(undo)) return
    if (typeof undo === 'function') {
      this.#undo.push(undo)
      return
    }
    this.#remembered.add(undo)
    this.#undo.push(undo.remembered())
  }

  #forgetUndo(): void {
    this.#undo = []
    this.#remembered.clear()
  }

  close(): void {
    if (this.#isClosed) return
    try {
      this.catchUp()
    } catch {
      // It was for later, and the next start sees to it.
    }
    this.#isClosed = true
    this.#clock.clear(this.#syncTimer)
    this.#statements.clear()
    this.#disk.closeSync(this.#log)
    try {
      this.#index.check()
      this.#db.close()
      this.#index.close()
    } catch {
      // It ends with the process.
    }
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
  run(sql: string, ...values: unknown[]): Database.RunResult {
    const result = this.transaction(() => this.#statement(sql).run(...values))
    this.#syncSoon()
    return result
  }

  #syncSoon(): void {
    this.#syncTimer ??= this.#clock.setTimeout(() => this.#syncInTime(), syncWithinMs).unref()
  }

  #syncInTime(): void {
    this.#syncTimer = undefined
    // Who needs to know asks for it, and is told; a disk that failed once is asked again.
    this.#caughtUp().catch(() => {
      if (!this.#isClosed) this.#syncSoon()
    })
  }

  async #caughtUp(): Promise<void> {
    if (!this.#isClosed) this.catchUp()
    await this.durable()
  }

  /** The first row, if there is one. */
  get(sql: string, ...values: unknown[]): unknown {
    this.#checkOpen()
    this.#index.check()
    return this.#statement(sql).get(...values)
  }

  all(sql: string, ...values: unknown[]): Row[] {
    this.#checkOpen()
    this.#index.check()
    return this.#statement(sql).all(...values) as Row[]
  }

  /** One row, every value under its column's name: the order of columns depends on a journal's history. */
  save(table: string, row: Row): void {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join()
    this.run(`insert or replace into ${table} (${columns.join()}) values (${places})`, ...Object.values(row))
  }
}
