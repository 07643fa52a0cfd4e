// One clock for all processes of the service: the database's. The clock of a machine may be wrong, and may jump.

import { type Kysely, sql } from '../kysely.ts'

export class DatabaseClock {
  /** Milliseconds to add to this process's steady clock. */
  #offsetMs = 0

  /** Milliseconds since the epoch. */
  readonly now = (): number => Math.floor(performance.now() + this.#offsetMs)

  /** Reads the time of the database. The error is half of the round trip at most. */
  async set<Tables>(store: Kysely<Tables>): Promise<void> {
    const before = performance.now()
    const { rows } = await sql<{
      ms: number
    }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(store)
    this.#offsetMs = rows[0]!.ms - (before + performance.now()) / 2
  }
}
