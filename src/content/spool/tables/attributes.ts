// The journal's table of attributes: modes and times that were set here, by path; the service keeps none.

import type { JournalDatabase } from '../journal-database.ts'
import { attributesOfRow, rowOfAttributes, type AttributeRow } from '../journal-rows.ts'

export class Attributes {
  readonly #db: JournalDatabase

  constructor(db: JournalDatabase) {
    this.#db = db
  }

  all(): AttributeRow[] {
    return this.#db.all('select * from attribute').map(attributesOfRow)
  }

  save(row: AttributeRow): void {
    this.#db.save('attribute', rowOfAttributes(row))
  }

  remove(path: string): void {
    this.#db.run('delete from attribute where path = ?', path)
  }
}
