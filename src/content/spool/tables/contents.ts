// The journal's table of small contents, by the id of their spool file: as durable as the intention that is journaled with them.

import type { JournalDatabase } from '../journal-database.ts'

export class Contents {
  readonly #db: JournalDatabase
  /** Contents to be removed with what is journaled next. */
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

  /** Undefined where it has nothing of it. */
  get(spool: string): Uint8Array | undefined {
    const row = this.#db.get('select bytes from content where spool = ?', spool) as
      | { bytes: ArrayBuffer }
      | undefined
    return row === undefined ? undefined : new Uint8Array(row.bytes)
  }

  /**
   * Saves the bytes in the row of a content that is to be removed, if there is one: an update writes a page or two, a delete and an insert
   * also write the lists of free pages.
   */
  save(spool: string, bytes: Uint8Array): void {
    this.#db.transaction(() => {
      this.#keep(spool)
      const [place] = this.#forgotten
      if (place === undefined || !this.#put(place, spool, bytes)) this.#db.save('content', { spool, bytes })
      // Removals that `forget` put off are part of the same transaction.
      this.#db.catchUp()
    })
  }

  /** False where there is no such place. */
  #put(place: string, spool: string, bytes: Uint8Array): boolean {
    this.#keep(place)
    const sql = 'update or replace content set spool = ?, bytes = ? where spool = ?'
    return this.#db.run(sql, spool, bytes, place).changes > 0
  }

  /** It is not to be removed any more. */
  #keep(spool: string): void {
    if (this.#forgotten.delete(spool)) this.#db.onRollback(() => this.#forgotten.add(spool))
  }

  /** Runs `undo` if the transaction under way is rolled back: for a caller that keeps a record of its own of what this table has. */
  onRollback(undo: () => void): void {
    this.#db.onRollback(undo)
  }

  remove(spool: string): void {
    this.#db.run('delete from content where spool = ?', spool)
  }

  /** As `remove`, with what is journaled next: content that no row names is removed at the next start anyway. */
  forget(spool: string): void {
    this.#forgotten.add(spool)
    this.#db.later(() => {
      if (!this.#forgotten.has(spool)) return
      this.#keep(spool)
      this.remove(spool)
    })
  }
}
