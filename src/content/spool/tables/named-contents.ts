// Which spool file each row of the journal names. No table of its own: the rows of intentions and of local-only files tell.

import type { JournalDatabase } from '../journal-database.ts'
import type { Dropped } from './dropped.ts'

export class NamedContents {
  readonly #db: JournalDatabase
  readonly #dropped: Dropped
  readonly #named = new Map<string, string>()
  /** Told once it is true on disk: the row names the one spool file no more, and the other one now; undefined is none. */
  onNamed: (row: string, before: string | undefined, now: string | undefined) => void = () => {}

  constructor(db: JournalDatabase, dropped: Dropped) {
    this.#db = db
    this.#dropped = dropped
  }

  /** The rows that name a spool file, with its id. */
  all(): ReadonlyMap<string, string> {
    return this.#named
  }

  of(row: string): string | undefined {
    return this.#named.get(row)
  }

  /** An earlier run journaled it so. */
  found(row: string, spool: string): void {
    this.#named.set(row, spool)
  }

  /** The row names another spool file from now on, or none. Part of the transaction that changes the row. */
  name(row: string, spool: string | undefined): void {
    const before = this.#named.get(row)
    if (before === spool) return
    if (before !== undefined) this.#dropped.add(before)
    this.#set(row, spool)
    this.#db.onRollback(() => this.#set(row, before))
    this.#db.afterCommit(() => this.onNamed(row, before, spool))
  }

  #set(row: string, spool: string | undefined): void {
    if (spool === undefined) this.#named.delete(row)
    else this.#named.set(row, spool)
  }
}
