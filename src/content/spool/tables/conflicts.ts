// The journal's table of versions of other clients that were kept beside ours, by the path of the copy.

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

  /** How many an older docmount counted, which kept no row of each. */
  countedBefore(): number {
    const row = this.#db.get('select value from counter where name = ?', 'conflicts') as
      | { value: number }
      | undefined
    return row?.value ?? 0
  }
}
