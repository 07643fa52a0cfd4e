// The database under the journal: one libsql file per mount in WAL mode, with transactions that memory follows. Its files:
// `journal-files.ts`; when they survive a power cut: `journal-sync.ts`. Knows no table.

import type Database from 'libsql'
import { ErrnoError } from '../../errno-error.ts'
import type { World } from '../../world/world.ts'
import { JournalFiles, type FormerFiles } from './journal-files.ts'
import { refusalOf } from './journal-refusal.ts'
import { writeAgain } from './journal-room.ts'
import type { Row } from './journal-rows.ts'
import { JournalSync } from './journal-sync.ts'
import { TransactionSteps } from './transaction-steps.ts'
import type { Undo } from './undo.ts'

export class JournalDatabase {
  readonly #stateDir: string
  readonly #files: JournalFiles
  readonly #sync: JournalSync
  readonly #steps = new TransactionSteps()
  readonly #statements = new Map<string, Database.Statement>()
  /** Writes that wait to go with another one. */
  #later: (() => void)[] = []
  #isInTransaction = false
  #isLooking = false
  /** The journal's content is gone, and not written anew yet. */
  #isLost = false
  #isClosed = false
  /** Damage that was found, and what was done about it, one sentence each. */
  readonly damage: string[] = []
  /** Told of what is found while it is open. */
  onDamage: (sentence: string) => void = () => {}
  /** Writes all of it anew, in a transaction, where what was written is lost. Absent: nobody can. */
  onLost: (() => void) | undefined
  /** Told of what a step threw that followed a transaction, or undid one: whoever asked for that was told what became of it. */
  onStepFailed: (error: unknown) => void = () => {}

  /** Opens or makes it in `stateDir`. Throws EBUSY when another daemon has it, ENOTSUP when a newer docmount wrote it. */
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
      inTime: () => this.#caughtUp(),
    })
  }

  /**
   * The files that are open are looked for at their paths. Where they are not, the journal is made anew of what they hold, on
   * disk when this returns. Throws where that cannot be.
   */
  look(): void {
    this.#look(true)
  }

  /** The same before each transaction, of what SQLite would trip over: what is written into the rest is found before it is durable. */
  #glance(): void {
    this.#look(false)
  }

  #look(thoroughly: boolean): void {
    if (this.#isClosed || this.#isLooking) return
    this.#isLooking = true
    try {
      this.#files.check()
      const state = this.#isLost ? 'written over' : this.#files.state(thoroughly)
      if (state === 'taken away') this.#makeAnew()
      else if (state === 'written over') this.#refill()
    } catch (error) {
      throw refusalOf(error, this.#stateDir)
    } finally {
      this.#isLooking = false
    }
  }

  #makeAnew(): void {
    const made = this.#files.makeAnew()
    if (made === undefined) return
    this.#goOnAfter(made.former)
    this.#found(
      'the journal was taken away from the state folder while the drive was in use: made anew, with everything that is unsent' +
        (made.aside === undefined ? '' : `; what stood in its place is set aside as ${made.aside}`),
    )
  }

  /** The files are ours, and what is in them is not: written anew by whoever knows what is to be in it. */
  #refill(): void {
    if (this.onLost === undefined) return
    if (!this.#isLost) {
      this.#isLost = true
      this.#found(
        `the journal was written over while the drive was in use: set aside as ${this.#files.setAside()}, and made anew`,
      )
    }
    const former = this.#files.beginAnew()
    if (former !== undefined) this.#goOnAfter(former)
    this.transaction(this.onLost)
    this.#files.syncNames()
    this.#isLost = false
  }

  #goOnAfter(former: FormerFiles): void {
    this.#statements.clear()
    this.#sync.begunAnew()
    const closeLog = (): void => former.closeLog()
    void this.#sync.run().then(closeLog, closeLog)
  }

  #found(sentence: string): void {
    this.damage.push(sentence)
    this.onDamage(sentence)
  }

  /** Resolves when everything written so far survives a power cut. */
  async durable(): Promise<void> {
    this.#checkOpen()
    const steps = this.#sync.take()
    try {
      await this.#sync.catchUp()
      const { log } = this.#files
      this.look()
      if (this.#files.log !== log) await this.#sync.run()
    } catch (error) {
      this.#sync.putBack(steps)
      throw error
    }
    this.#take(steps)
  }

  /** Runs `step` when everything written so far survives a power cut: with whoever asks for that next, in a second else. */
  onceDurable(step: () => void): void {
    this.#sync.onceDurable(step)
  }

  async #caughtUp(): Promise<void> {
    if (!this.#isClosed) this.catchUp()
    await this.durable()
  }

  /** All or nothing. */
  transaction<T>(body: () => T): T {
    if (this.#isInTransaction) return body()
    this.#checkOpen()
    this.#glance()
    let result: T
    try {
      // Not a kept statement: libsql does not reset one that another program's lock refused, and no later commit would succeed.
      this.#files.db.exec('begin immediate')
      this.#isInTransaction = true
      result = body()
      this.#files.db.exec('commit')
      this.#sync.changed()
      this.#isInTransaction = false
    } catch (error) {
      this.#rollBack()
      throw refusalOf(error, this.#stateDir)
    }
    this.#take([() => this.#files.note(), ...this.#steps.committed()])
    return result
  }

  #rollBack(): void {
    this.#isInTransaction = false
    const { db } = this.#files
    this.#take([() => db.inTransaction && db.exec('rollback'), ...this.#steps.rolledBack()])
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
    this.#sync.soon()
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
    if (this.#isInTransaction) this.#steps.afterCommit(step)
    else step()
  }

  /** Runs `undo`, the latest first, where the transaction under way is rolled back: memory says what the journal says. */
  onRollback(undo: Undo): void {
    if (this.#isInTransaction) this.#steps.onRollback(undo)
  }

  close(): void {
    if (this.#isClosed) return
    try {
      this.catchUp()
    } catch {
      // It was for later, and the next start sees to it.
    }
    this.#isClosed = true
    this.#sync.close()
    this.#statements.clear()
    this.#files.close()
  }

  /** A closed database that is used ends the process. */
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

  /** Always in a transaction: only its beginning may meet another program's lock. */
  run(sql: string, ...values: unknown[]): Database.RunResult {
    const result = this.transaction(() => this.#statement(sql).run(...values))
    this.#sync.soon()
    return result
  }

  /** The first row, if there is one. */
  get(sql: string, ...values: unknown[]): unknown {
    this.#checkOpen()
    this.#files.check()
    return this.#statement(sql).get(...values)
  }

  all(sql: string, ...values: unknown[]): Row[] {
    this.#checkOpen()
    this.#files.check()
    return this.#statement(sql).all(...values) as Row[]
  }

  /** One row, every value under its column's name: the order of columns depends on a journal's history. */
  save(table: string, row: Row): void {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join()
    this.run(`insert or replace into ${table} (${columns.join()}) values (${places})`, ...Object.values(row))
  }
}
