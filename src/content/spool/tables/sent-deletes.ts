// The journal's table of DELETEs that were sent, by path: one that the service comes to only after a kill is still known then.

import type { Clock } from '../../../world/clock.ts'
import type { JournalDatabase } from '../journal-database.ts'

/** Longer than any DELETE is waited for (ms). */
const longestMs = 600_000
const tidiedEvery = 1_000

export class SentDeletes {
  readonly #db: JournalDatabase
  readonly #clock: Pick<Clock, 'wall'>
  #notes = 0

  constructor(db: JournalDatabase, clock: Pick<Clock, 'wall'>) {
    this.#db = db
    this.#clock = clock
    this.#tidy()
  }

  /** Called right before a DELETE is sent. Not synced: a machine that lost its power starts later than any request arrives. */
  note(path: string): void {
    this.#db.save('sent_delete', { path, at: this.#clock.wall() })
    if (++this.#notes % tidiedEvery === 0) this.#tidy()
  }

  /** Paths at which one may have been under way when the last run ended. */
  all(): string[] {
    return this.#db.all('select path from sent_delete').map(({ path }) => String(path))
  }

  #tidy(): void {
    this.#db.run('delete from sent_delete where at < ?', this.#clock.wall() - longestMs)
  }
}
