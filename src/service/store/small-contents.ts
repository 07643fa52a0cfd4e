// The table of small contents, by SHA-256. Callers decide which contents are small, and know their references.

import type { SmallContentsTable, Store } from './database.ts'
import { prepared } from './prepared.ts'

export async function addSmall(store: Store, content: SmallContentsTable): Promise<void> {
  await insert(store, content)
}
const insert = prepared((store, content: SmallContentsTable) =>
  store
    .insertInto('small_contents')
    .values({ sha256: content.sha256, bytes: content.bytes })
    // An existing row is nearly always equal, and is not written again; a damaged one is replaced.
    .onConflict((conflict) =>
      conflict
        .column('sha256')
        .doUpdateSet((row) => ({ bytes: row.ref('excluded.bytes') }))
        .whereRef('small_contents.bytes', '!=', 'excluded.bytes'),
    ),
)

export async function readSmall(store: Store, sha256: string): Promise<Buffer | undefined> {
  const [row] = await select(store, { sha256 })
  return row === undefined ? undefined : Buffer.from(row.bytes)
}
const select = prepared((store, params: { sha256: string }) =>
  store.selectFrom('small_contents').select('bytes').where('sha256', '=', params.sha256),
)

/** Returns the hashes that were in the table. */
export async function removeSmall(store: Store, sha256s: readonly string[]): Promise<string[]> {
  const rows = await store
    .deleteFrom('small_contents')
    .where('sha256', 'in', sha256s)
    .returning('sha256')
    .execute()
  return rows.map((row) => row.sha256)
}

/** Up to `limit` hashes after `after`, in ascending order. */
export async function listSmall(store: Store, after: string, limit: number): Promise<string[]> {
  const rows = await store
    .selectFrom('small_contents')
    .select('sha256')
    .where('sha256', '>', after)
    .orderBy('sha256')
    .limit(limit)
    .execute()
  return rows.map((row) => row.sha256)
}
