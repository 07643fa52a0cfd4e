// The journal's table of spool files that are not needed any more: one that is found after a crash may be removed.

import type { JournalDatabase } from '../journal-database.ts'

/** Number of rows kept: a power cut can bring back only files that were removed just before. */
const most = 5_000
const tidiedEvery = 1_000

export class Dropped {
  readonly #db: JournalDatabase

  constructor(db: JournalDatabase) {
    this.#db = db
  }

  /** Notes that the spool file can be removed without loss, unless a row still names it. */
  add(spool: string): void {
    const { lastInsertRowid } = this.#db.run('insert into dropped (spool) values (?)', spool)
    const last = Number(lastInsertRowid)
    if (last % tidiedEvery === 0) this.#db.run('delete from dropped where id <= ?', last - most)
  }

  /** Notes that the spool file is needed again. */
  remove(spool: string): void {
    this.#db.run('delete from dropped where spool = ?', spool)
  }

  all(): Set<string> {
    return new Set(this.#db.all('select spool from dropped').map(({ spool }) => String(spool)))
  }

  /** Called after the sweep of a start. */
  clear(): void {
    this.#db.run('delete from dropped')
  }
}
