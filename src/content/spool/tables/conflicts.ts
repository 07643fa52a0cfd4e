// The journal's table of conflict copies: other clients' versions that were kept beside ours, by the path of the copy.

import type { JournalDatabase } from '../journal-database.ts'
import type { ConflictRow } from '../journal-rows.ts'

export class Conflicts {
  readonly #db: JournalDatabase

  constructor(db: JournalDatabase) {
    this.#db = db
  }

  /** Oldest first. */
  all(): ConflictRow[] {
    return this.#db.all('select * from conflict order by at').map((row) => ({
      path: String(row['path']),
      copy: String(row['copy']),
      at: Number(row['at']),
    }))
  }

  save({ path, copy, at }: ConflictRow): void {
    this.#db.save('conflict', { copy, path, at })
  }

  remove(copy: string): void {
    this.#db.run('delete from conflict where copy = ?', copy)
  }

  /** Number of conflict copies counted by an older docmount, which had no rows for them. */
  countedBefore(): number {
    const row = this.#db.get('select value from counter where name = ?', 'conflicts') as
      | { value: number }
      | undefined
    return row?.value ?? 0
  }
}
