// The journal's table of small contents, by the id of their spool file. Each becomes durable together with its intention.

import type { JournalDatabase } from '../journal-database.ts'
import { onRollback } from '../transaction-steps.ts'

export class Contents {
  readonly #db: JournalDatabase
  /** Ids of contents whose rows are to be removed in the next transaction. */
  readonly #forgotten = new Set<string>()

  constructor(db: JournalDatabase) {
    this.#db = db
  }

  all(): { spool: string; bytes: Uint8Array }[] {
    const rows = this.#db.all('select spool, bytes from content order by spool') as unknown as {
      spool: string
      bytes: ArrayBuffer
    }[]
    return rows.map(({ spool, bytes }) => ({ spool, bytes: new Uint8Array(bytes) }))
  }

  /** Returns the content; undefined where the journal does not have it. */
  get(spool: string): Uint8Array | undefined {
    const row = this.#db.get('select bytes from content where spool = ?', spool) as
      | { bytes: ArrayBuffer }
      | undefined
    return row === undefined ? undefined : new Uint8Array(row.bytes)
  }

  /**
   * Saves the bytes, in the row of a content to be removed if there is one: an update writes a page or two, a delete and an
   * insert also write the lists of free pages.
   */
  save(spool: string, bytes: Uint8Array): void {
    this.#db.transaction(() => {
      this.#keep(spool)
      const [reusable] = this.#forgotten
      if (reusable === undefined || !this.#reuse(reusable, spool, bytes))
        this.#db.save('content', { spool, bytes })
      // Removals that `forget` put off are part of the same transaction.
      this.#db.runQueued()
    })
  }

  /** Saves the bytes in the row of the content `former`. False where that has no row. */
  #reuse(former: string, spool: string, bytes: Uint8Array): boolean {
    this.#keep(former)
    const sql = 'update or replace content set spool = ?, bytes = ? where spool = ?'
    return this.#db.run(sql, spool, bytes, former).changes > 0
  }

  /** Cancels the removal that `forget` put off. */
  #keep(spool: string): void {
    if (this.#forgotten.delete(spool)) onRollback(() => this.#forgotten.add(spool))
  }

  remove(spool: string): void {
    this.#db.run('delete from content where spool = ?', spool)
  }

  /** Like `remove`, but in the next transaction: content that no row names is removed at the next start anyway. */
  forget(spool: string): void {
    this.#forgotten.add(spool)
    this.#db.queueWrite(() => {
      if (!this.#forgotten.has(spool)) return
      this.#keep(spool)
      this.remove(spool)
    })
  }
}
