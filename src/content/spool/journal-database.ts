// The journal's database: one libsql file per mount in WAL mode. State in memory follows its transactions by registered steps.
// Its files are in `journal-files.ts`, the syncs in `journal-sync.ts`. Knows no table.

import type Database from 'libsql'
import { ErrnoError } from '../../errno-error.ts'
import type { World } from '../../world/world.ts'
import { JournalFiles, type FormerFiles } from './journal-files.ts'
import { refusalOf } from './journal-refusal.ts'
import { writeAgain } from './journal-room.ts'
import type { Row } from './journal-rows.ts'
import { JournalSync } from './journal-sync.ts'
import { onRollback, TransactionSteps } from './transaction-steps.ts'

export class JournalDatabase {
  readonly #stateDir: string
  readonly #files: JournalFiles
  readonly #sync: JournalSync
  readonly #steps = new TransactionSteps()
  readonly #statements = new Map<string, Database.Statement>()
  /** Writes that nothing waits for, done together within a second. */
  #queued: (() => void)[] = []
  /** True during a check of the files, whose own transaction needs none. */
  #isChecking = false
  /** True while the journal's content is lost, and not written again yet. */
  #isLost = false
  #isClosed = false
  /** Damage that was found, and what was done about it, in one sentence each. */
  readonly damage: string[] = []
  /** Called with each such sentence while the database is open. */
  onDamage: (sentence: string) => void = () => {}
  /** Writes all content again, in a transaction, after it was lost. Undefined: that is not possible. */
  onLost: (() => void) | undefined
  /** Called with the error of a step after a commit or rollback, which the transaction's caller does not get. */
  onStepFailed: (error: unknown) => void = () => {}

  /** Opens or creates it in `stateDir`. Throws EBUSY where another daemon has it, ENOTSUP where a newer docmount wrote it. */
  constructor(stateDir: string, { clock, disk }: Pick<World, 'clock' | 'disk'>) {
    this.#stateDir = stateDir
    const files = new JournalFiles({
      stateDir,
      disk,
      now: () => new Date(clock.wall()),
      damaged: (sentence) => this.damage.push(sentence),
    })
    this.#files = files
    this.#sync = new JournalSync({
      clock,
      sync: () => disk.fdatasync(files.log),
      writeAgain: () => writeAgain(files.log, disk),
      onTimer: () => this.#everySecond(),
    })
  }

  /**
   * Checks that the open files are still at their paths. If not, writes the journal again, on disk when this returns. Throws
   * if that fails.
   */
  restoreFiles(): void {
    this.#checkFiles(true)
  }

  /** Like `restoreFiles`, but quick, before each transaction: checks only the files whose loss SQLite would not survive. */
  #quickCheck(): void {
    this.#checkFiles(false)
  }

  #checkFiles(thoroughly: boolean): void {
    if (this.#isClosed || this.#isChecking) return
    this.#isChecking = true
    try {
      this.#files.checkIndex()
      const state = this.#isLost ? 'written over' : this.#files.state(thoroughly)
      if (state === 'taken away') this.#rewriteMissing()
      else if (state === 'written over') this.#refill()
    } catch (error) {
      throw refusalOf(error, this.#stateDir)
    } finally {
      this.#isChecking = false
    }
  }

  #rewriteMissing(): void {
    const made = this.#files.rewriteMissing()
    if (made === undefined) return
    this.#switchFrom(made.former)
    this.#reportDamage(
      'the journal was taken away from the state folder while the drive was in use: made anew, with everything that is unsent' +
        (made.aside === undefined ? '' : `; what stood in its place is set aside as ${made.aside}`),
    )
  }

  /** Writes the content again, by `onLost`, after other content was written over ours. */
  #refill(): void {
    if (this.onLost === undefined) return
    if (!this.#isLost) {
      this.#isLost = true
      this.#reportDamage(
        `the journal was written over while the drive was in use: set aside as ${this.#files.setDatabaseAside()}, and made anew`,
      )
    }
    const former = this.#files.createEmpty()
    if (former !== undefined) this.#switchFrom(former)
    this.transaction(this.onLost)
    this.#files.syncNames()
    this.#isLost = false
  }

  #switchFrom(former: FormerFiles): void {
    this.#statements.clear()
    this.#sync.logReplaced()
    const closeLog = (): void => former.closeLog()
    void this.#sync.run().then(closeLog, closeLog)
  }

  #reportDamage(sentence: string): void {
    this.damage.push(sentence)
    this.onDamage(sentence)
  }

  /** Resolves when everything written so far survives a power cut. */
  async durable(): Promise<void> {
    this.#checkOpen()
    const steps = this.#sync.takeSteps()
    try {
      await this.#sync.syncIfNeeded()
      const { log } = this.#files
      this.restoreFiles()
      if (this.#files.log !== log) await this.#sync.run()
    } catch (error) {
      this.#sync.putBackSteps(steps)
      throw error
    }
    this.#runSteps(steps)
  }

  /** Runs `step` once everything written so far survives a power cut: at the next `durable`, or within a second. */
  onceDurable(step: () => void): void {
    this.#sync.onceDurable(step)
  }

  /** The work of each second: queued writes are done, and everything is synced. */
  async #everySecond(): Promise<void> {
    if (!this.#isClosed) this.runQueued()
    await this.durable()
  }

  /** Runs `body` in a transaction, or in the one under way. Throws the error of `body` or of the disk, after a rollback. */
  transaction<T>(body: () => T): T {
    if (this.#steps.isUnderWay) return body()
    this.#checkOpen()
    this.#quickCheck()
    let result: T
    try {
      // Not a prepared statement: libsql does not reset one refused by another program's lock, and no later commit would succeed.
      this.#files.db.exec('begin immediate')
      this.#steps.begin()
      result = body()
      this.#files.db.exec('commit')
      this.#sync.countCommit()
    } catch (error) {
      this.#rollBack()
      throw refusalOf(error, this.#stateDir)
    }
    this.#runSteps([() => this.#files.noteCommit(), ...this.#steps.committed()])
    return result
  }

  #rollBack(): void {
    const { db } = this.#files
    this.#runSteps([() => db.inTransaction && db.exec('rollback'), ...this.#steps.rolledBack()])
  }

  /** Runs all steps, also if one throws: the transaction is over, and the steps do not depend on each other. */
  #runSteps(steps: readonly (() => unknown)[]): void {
    for (const step of steps) {
      try {
        step()
      } catch (error) {
        this.onStepFailed(error)
      }
    }
  }

  /** Queues a write that nothing waits for: done within a second, or at `runQueued`. To lose it in a kill must do no harm. */
  queueWrite(step: () => void): void {
    this.#queued.push(step)
    this.#sync.syncSoon()
  }

  /** Does the writes queued by `queueWrite`, in the transaction under way, or one of their own. */
  runQueued(): void {
    const steps = this.#queued
    if (steps.length === 0) return
    this.#queued = []
    this.transaction(() => {
      onRollback(() => this.#queued.unshift(...steps))
      for (const step of steps) step()
    })
  }

  /** Runs `step` after the transaction under way is committed, and never if it is rolled back; at once where there is none. */
  afterCommit(step: () => void): void {
    if (this.#steps.isUnderWay) this.#steps.afterCommit(step)
    else step()
  }

  close(): void {
    if (this.#isClosed) return
    try {
      this.runQueued()
    } catch {
      // Those writes may be lost; the next start corrects that.
    }
    this.#isClosed = true
    this.#sync.close()
    this.#statements.clear()
    this.#files.close()
  }

  /** Throws EIO after `close`: the use of a closed database would end the process. */
  #checkOpen(): void {
    if (this.#isClosed) throw new ErrnoError('EIO', 'the drive has ended: its journal is closed')
  }

  #statement(sql: string): Database.Statement {
    this.#checkOpen()
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#files.db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Runs a write, always in a transaction, so that only its beginning can meet another program's lock. */
  run(sql: string, ...values: unknown[]): Database.RunResult {
    const result = this.transaction(() => this.#statement(sql).run(...values))
    this.#sync.syncSoon()
    return result
  }

  /** Returns the first row, if there is one. */
  get(sql: string, ...values: unknown[]): unknown {
    this.#checkOpen()
    this.#files.checkIndex()
    return this.#statement(sql).get(...values)
  }

  all(sql: string, ...values: unknown[]): Row[] {
    this.#checkOpen()
    this.#files.checkIndex()
    return this.#statement(sql).all(...values) as Row[]
  }

  /** Writes a row, with its column names, because the order of columns depends on a journal's history. */
  save(table: string, row: Row): void {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join()
    this.run(`insert or replace into ${table} (${columns.join()}) values (${places})`, ...Object.values(row))
  }
}
