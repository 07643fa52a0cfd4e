// The journal's table of folders that were made here, and that the service does not have.

import type { UndurableDeletes } from '../undurable-deletes.ts'
import type { JournalDatabase } from '../journal-database.ts'

export class Folders {
  readonly #db: JournalDatabase
  readonly #ended: UndurableDeletes

  constructor(db: JournalDatabase, ended: UndurableDeletes) {
    this.#db = db
    this.#ended = ended
  }

  /** Their paths: a folder before what is in it. */
  all(): string[] {
    return this.#db.all('select path from folder order by path').map(({ path }) => String(path))
  }

  save(path: string): void {
    this.#db.save('folder', { path })
  }

  remove(path: string): void {
    this.#db.run('delete from folder where path = ?', path)
    // Brought back it would hide what came to its name.
    this.#ended.endedFolder(path)
  }
}
