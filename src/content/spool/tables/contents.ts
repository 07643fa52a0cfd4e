// The journal's table of small contents, by the id of their spool file: as durable as the intention that is journaled with them.

import type { JournalDatabase } from '../journal-database.ts'

export class Contents {
  readonly #db: JournalDatabase

  constructor(db: JournalDatabase) {
    this.#db = db
  }

  all(): { spool: string; bytes: Uint8Array }[] {
    const rows = this.#db.all('select spool, bytes from content') as unknown as {
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

  save(spool: string, bytes: Uint8Array): void {
    this.#db.catchUp()
    this.#db.save('content', { spool, bytes })
  }

  remove(spool: string): void {
    this.#db.run('delete from content where spool = ?', spool)
  }

  /** As `remove`, with what is journaled next: content that no row names is removed at the next start anyway. */
  forget(spool: string): void {
    this.#db.later(() => this.remove(spool))
  }
}
