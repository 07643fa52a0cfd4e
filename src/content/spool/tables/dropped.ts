// The journal's table of spool files that are of no use any more: should one be found after a crash, it may go.

import type { JournalDatabase } from '../journal-database.ts'

/** So many are remembered: one that a power cut brings back was removed a moment before it. */
const most = 5_000
const tidiedEvery = 1_000

export class Dropped {
  readonly #db: JournalDatabase

  constructor(db: JournalDatabase) {
    this.#db = db
  }

  /** The spool file may go without loss, unless a row still names it. */
  add(spool: string): void {
    const { lastInsertRowid } = this.#db.run('insert into dropped (spool) values (?)', spool)
    const last = Number(lastInsertRowid)
    if (last % tidiedEvery === 0) this.#db.run('delete from dropped where id <= ?', last - most)
  }

  /** It is of use again. */
  remove(spool: string): void {
    this.#db.run('delete from dropped where spool = ?', spool)
  }

  all(): Set<string> {
    return new Set(this.#db.all('select spool from dropped').map(({ spool }) => String(spool)))
  }

  clear(): void {
    this.#db.run('delete from dropped')
  }
}
