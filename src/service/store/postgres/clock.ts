// One clock for all nodes: the database's. A node's own may be wrong by any amount, and may jump.

import { type Kysely, sql } from '../kysely.ts'

export class DatabaseClock {
  /** Milliseconds to add to this process's steady clock. */
  #offsetMs = 0

  /** Milliseconds since the epoch. */
  readonly now = (): number => Math.floor(performance.now() + this.#offsetMs)

  /** Looks again. Off by half of the way to the database at most. */
  async set<Tables>(store: Kysely<Tables>): Promise<void> {
    const before = performance.now()
    const { rows } = await sql<{
      ms: number
    }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(store)
    this.#offsetMs = rows[0]!.ms - (before + performance.now()) / 2
  }
}
