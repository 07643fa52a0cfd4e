// The journal's table of local-only files (temporaries, swap files, backups): by path, each with its spool file, or with the
// path at which the service still has its content.

import type { UndurableDeletes } from '../undurable-deletes.ts'
import type { JournalDatabase } from '../journal-database.ts'
import { rowOfScratch, scratchOf, type Row, type ScratchRow } from '../journal-rows.ts'
import type { NamedContents } from './named-contents.ts'

const rowPrefix = 'scratch '

/** Key of a local-only file's row (see `NamedContents`). */
export const rowOfLocalFile = (path: string): string => `${rowPrefix}${path}`

/** The path of the local-only file whose row has this key; undefined for other rows. */
export function pathOfLocalRow(row: string): string | undefined {
  return row.startsWith(rowPrefix) ? row.slice(rowPrefix.length) : undefined
}

export class LocalFiles {
  readonly #db: JournalDatabase
  readonly #named: NamedContents
  readonly #undurableDeletes: UndurableDeletes
  /** False while no row has ever referred to content in the service. */
  #mayRefer: boolean

  constructor(db: JournalDatabase, named: NamedContents, undurableDeletes: UndurableDeletes) {
    this.#db = db
    this.#named = named
    this.#undurableDeletes = undurableDeletes
    const rows = this.all()
    this.#mayRefer = rows.some(({ reference }) => reference !== undefined)
    for (const { path, spool } of rows) if (spool !== undefined) named.found(rowOfLocalFile(path), spool)
  }

  all(): ScratchRow[] {
    return this.#db.all('select * from scratch order by path').map(scratchOf)
  }

  at(path: string): ScratchRow | undefined {
    const row = this.#db.get('select * from scratch where path = ?', path) as Row | undefined
    return row === undefined ? undefined : scratchOf(row)
  }

  /** Paths of the local-only files whose rows say that their bytes are at this path in the service. */
  referringTo(reference: string): string[] {
    if (!this.#mayRefer) return []
    return this.#db
      .all('select path from scratch where reference = ?', reference)
      .map(({ path }) => String(path))
  }

  save(row: ScratchRow): void {
    this.#db.transaction(() => {
      this.#noteReference(row.path, row.reference?.path)
      this.#mayRefer ||= row.reference !== undefined
      this.#db.save('scratch', rowOfScratch(row))
      this.#named.name(rowOfLocalFile(row.path), row.spool)
    })
  }

  remove(path: string): void {
    this.#db.transaction(() => {
      this.#noteReference(path, undefined)
      this.#db.run('delete from scratch where path = ?', path)
      this.#undurableDeletes.noteDeleted([path], this.#named.of(rowOfLocalFile(path)))
      this.#named.name(rowOfLocalFile(path), undefined)
    })
  }

  /** Notes that the row at this path no longer refers to its present reference, unless that is `now`. */
  #noteReference(path: string, now: string | undefined): void {
    if (!this.#mayRefer) return
    const before = this.at(path)?.reference?.path
    if (before !== undefined && before !== now) this.#undurableDeletes.noteReferenceDeleted(before)
  }
}
