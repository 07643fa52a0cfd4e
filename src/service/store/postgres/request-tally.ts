// Token buckets of keys and addresses, shared by all processes of the service. A row holds the time at which a bucket is full
// again. It is of use for seconds, so a crash of the database may lose it.

import { type Kysely, sql } from '../kysely.ts'
import type { Tally } from '../../edge/token-buckets.ts'

const nowMs = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::float8`

/** Returns a tally in the database. `kind` separates the names of keys from those of addresses. */
export function tallyOver<Tables>(store: Kysely<Tables>, kind: 'address' | 'key'): Tally {
  return async (taken) => {
    const names = [...taken.keys()].map((name) => `${kind} ${name}`)
    // Always in the same order, so that two processes cannot deadlock.
    const { rows } = await sql<{ name: string; full_in: number }>`
      insert into request_rates as held (name, full_at)
        select name, ${nowMs} + taken from unnest(${names}::text[], ${[...taken.values()]}::float8[]) as told (name, taken)
        order by name
      on conflict (name) do update set full_at = greatest(held.full_at, ${nowMs}) + excluded.full_at - ${nowMs}
      returning name, full_at - ${nowMs} as full_in`.execute(store)
    return new Map(rows.map((row) => [row.name.slice(kind.length + 1), row.full_in]))
  }
}

/** Deletes the rows of full buckets, except rows that another process is writing. */
export async function forgetFull<Tables>(store: Kysely<Tables>): Promise<void> {
  await sql`delete from request_rates where name in
    (select name from request_rates where full_at < ${nowMs} for update skip locked)`.execute(store)
}
