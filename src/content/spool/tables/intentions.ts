// The journal's table of intentions: changes that the service does not have yet.

import type { Intention } from '../../intention.ts'
import type { JournalDatabase } from '../journal-database.ts'
import { intentionOf, isSealed, rowOfIntention } from '../journal-rows.ts'
import type { NamedContents } from './named-contents.ts'

const prefix = 'intention '

const rowOf = (id: number): string => `${prefix}${id}`

/** True for the key of an intention's row: the spool file that it names is to be sent, and must not change. */
export function isIntentionRow(row: string): boolean {
  return row.startsWith(prefix)
}

export class Intentions {
  readonly #db: JournalDatabase
  readonly #named: NamedContents
  #lastId: number

  constructor(db: JournalDatabase, named: NamedContents) {
    this.#db = db
    this.#named = named
    this.#deleteDamaged()
    const row = db.get('select max(id) as id from intention') as { id: number | null }
    this.#lastId = row.id ?? 0
    for (const { id, spool } of db.all('select id, spool from intention where spool is not null'))
      named.found(rowOf(Number(id)), String(spool))
  }

  /** Deletes damaged rows. Their contents stay in the spool, where the start finds that no row names them. */
  #deleteDamaged(): void {
    for (const row of this.#db.all('select * from intention')) {
      if (isSealed(row)) continue
      this.#db.run('delete from intention where id = ?', row['id'])
      this.#db.damage.push('a row of the journal was damaged and is left out')
    }
  }

  nextId(): number {
    return ++this.#lastId
  }

  /** All intentions, oldest first. */
  all(): Intention[] {
    return this.#db.all('select * from intention order by id').map(intentionOf)
  }

  save(intention: Intention): void {
    this.#db.transaction(() => {
      this.#db.save('intention', rowOfIntention(intention))
      this.#named.name(rowOf(intention.id), intention.spool)
    })
  }

  remove(id: number): void {
    this.#db.transaction(() => {
      this.#db.run('delete from intention where id = ?', id)
      this.#named.name(rowOf(id), undefined)
    })
  }
}
