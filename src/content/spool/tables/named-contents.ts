// The spool file that each row of the journal names, in memory only. Rows have keys like `intention 7` and `scratch /a.tmp`.

import type { JournalDatabase } from '../journal-database.ts'
import { UndoableMap } from '../undo.ts'
import type { Dropped } from './dropped.ts'

export class NamedContents {
  readonly #db: JournalDatabase
  readonly #dropped: Dropped
  /** Id of the spool file, by the row's key. */
  readonly #named = new UndoableMap<string, string>()
  /** Called after the commit that changed the spool file which a row names (undefined: none), so that `Claims` follow. */
  onNamed: (row: string, before: string | undefined, now: string | undefined) => void = () => {}

  constructor(db: JournalDatabase, dropped: Dropped) {
    this.#db = db
    this.#dropped = dropped
  }

  /** Ids of spool files, by the keys of the rows that name them. */
  all(): ReadonlyMap<string, string> {
    return this.#named
  }

  of(row: string): string | undefined {
    return this.#named.get(row)
  }

  /** Notes the spool file that a row of an earlier run names. */
  found(row: string, spool: string): void {
    this.#named.set(row, spool)
  }

  /** Notes that a row names another spool file from now on, or none. To be called in the transaction that changes the row. */
  name(row: string, spool: string | undefined): void {
    const before = this.#named.get(row)
    if (before === spool) return
    if (before !== undefined) this.#dropped.add(before)
    if (spool === undefined) this.#named.delete(row)
    else this.#named.set(row, spool)
    this.#db.afterCommit(() => this.onNamed(row, before, spool))
  }
}
