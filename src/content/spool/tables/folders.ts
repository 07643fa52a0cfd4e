// The journal's table of folders that were created here, and that the service does not have.

import type { UndurableDeletes } from '../undurable-deletes.ts'
import type { JournalDatabase } from '../journal-database.ts'

export class Folders {
  readonly #db: JournalDatabase
  readonly #undurableDeletes: UndurableDeletes

  constructor(db: JournalDatabase, undurableDeletes: UndurableDeletes) {
    this.#db = db
    this.#undurableDeletes = undurableDeletes
  }

  /** Their paths, in order: a folder before its content. */
  all(): string[] {
    return this.#db.all('select path from folder order by path').map(({ path }) => String(path))
  }

  save(path: string): void {
    this.#db.save('folder', { path })
  }

  remove(path: string): void {
    this.#db.run('delete from folder where path = ?', path)
    // A folder brought back by a power cut would hide a newer document of its name.
    this.#undurableDeletes.noteFolderDeleted(path)
  }
}
