// Advisory locks for tasks that one process at a time may do. No other program may use their numbers in this database.

import { type Kysely, sql } from '../kysely.ts'

const space = 0x646f63 // "doc"
const numbers = { clearing: 1, sweeping: 2 }

/** Takes a lock until the end of the transaction. Returns false if another transaction has it. */
export async function tryLock<Tables>(store: Kysely<Tables>, name: keyof typeof numbers): Promise<boolean> {
  const { rows } = await sql<{
    held: boolean
  }>`select pg_try_advisory_xact_lock(${sql.lit(space)}, ${sql.lit(numbers[name])}) as held`.execute(store)
  return rows[0]?.held === true
}
