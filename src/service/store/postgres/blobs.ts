// The table of contents: which bytes there are, where they rest, and since when nothing refers to them. A row is held by
// whoever adopts it, so that its bytes do not go meanwhile.
//
//   adopt ──→ referenced ──last reference deleted (a trigger)──→ unreferenced since ──takeUnreferenced, a day later──→ gone
//     └──adopt for a transaction to come──────────────────────────────↑    └──adopt──→ referenced

import { type ExpressionBuilder, type SqlBool, sql } from '../kysely.ts'
import { ServiceError } from '../../service-error.ts'
import type { Database, Store } from '../database.ts'
import { prepared } from '../prepared.ts'
import { type BlobsTable, type SharedTables, sharedStore } from './database.ts'

/** Content that is whole: in memory, or resting under a key. */
export interface WholeContent {
  readonly sha256: string
  readonly size: number
  readonly bytes?: Buffer
  readonly key?: string
  /** Until then nobody takes bytes under `key` for ones that a crash left: by the steady clock, in milliseconds. */
  readonly adoptUntilMs?: number
}

/**
 * Makes the content one of the store's; answers the key it rests under, null for small ones. A content that is there
 * already stays, unless it is a small one that is damaged. Throws ServiceError 503 where its upload took so long that
 * a sweep may be looking at its bytes.
 */
export async function adopt(
  store: Store,
  content: WholeContent,
  unreferencedSince: number | null,
): Promise<string | null> {
  const { sha256, size, bytes = null, key = null, adoptUntilMs = Infinity } = content
  if (performance.now() > adoptUntilMs) throw new ServiceError(503, 'the upload took too long: try again')
  const [row] = await upsert(store, { sha256, size, bytes, key, since: unreferencedSince })
  return row?.key ?? null
}
/** A small content that came damaged from another store is mended; all others stay as they are, and are not written again. */
const wholeBytes = sql<Buffer | null>`case when blobs.bytes <> excluded.bytes then excluded.bytes else blobs.bytes end`
const upsert = prepared(
  (
    store,
    is: {
      sha256: string
      size: number
      bytes: Buffer | null
      key: string | null
      since: number | null
    },
  ) =>
    sharedStore(store)
      .insertInto('blobs')
      .values({
        sha256: is.sha256,
        size: is.size,
        bytes: is.bytes,
        key: is.key,
        unreferenced_since: is.since,
      })
      .onConflict((conflict) =>
        conflict.column('sha256').doUpdateSet({ unreferenced_since: is.since as number, bytes: wholeBytes }),
      )
      .returning('key'),
)

/** The content rests under `key` from now on. False where it did not rest under `former` any more. */
export async function rest(store: Store, sha256: string, former: string, key: string): Promise<boolean> {
  const rows = await sharedStore(store)
    .updateTable('blobs')
    .set({ key })
    .where('sha256', '=', sha256)
    .where('key', '=', former)
    .returning('sha256')
    .execute()
  return rows.length > 0
}

/** Keeps content for a transaction that comes within the time unreferenced content is kept. False when there is none. */
export async function holdOn(store: Store, sha256: string, now: number): Promise<boolean> {
  const rows = await sharedStore(store)
    .updateTable('blobs')
    .set({ unreferenced_since: now })
    .where('sha256', '=', sha256)
    .returning('sha256')
    .execute()
  return rows.length > 0
}

export async function findBlob(
  store: Store,
  sha256: string,
): Promise<Pick<BlobsTable, 'bytes' | 'key'> | undefined> {
  return (await selectBlob(store, { sha256 }))[0]
}
const selectBlob = prepared((store, is: { sha256: string }) =>
  sharedStore(store).selectFrom('blobs').select(['bytes', 'key']).where('sha256', '=', is.sha256),
)

/** Forgets up to `limit` contents that nothing has referred to since `before`. Undefined when there are no more. */
export async function takeUnreferenced(
  store: Store,
  before: number,
  limit: number,
): Promise<readonly { key: string | null }[] | undefined> {
  const shared = sharedStore(store)
  const rows = await shared
    .selectFrom('blobs')
    .select('sha256')
    .where('unreferenced_since', '<=', before)
    .orderBy('sha256')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute()
  if (rows.length === 0) return undefined
  const sha256s = rows.map(({ sha256 }) => sha256)
  await shared
    .updateTable('blobs')
    .set({ unreferenced_since: null })
    .where('sha256', 'in', sha256s)
    .where(isReferenced)
    .execute()
  return shared
    .deleteFrom('blobs')
    .where('sha256', 'in', sha256s)
    .where((is) => is.not(isReferenced(is)))
    .returning('key')
    .execute()
}

function isReferenced(
  is: ExpressionBuilder<Database & SharedTables, 'blobs'>,
): ReturnType<typeof sql<SqlBool>> {
  return sql<SqlBool>`(exists (select 1 from nodes where blob = ${is.ref('blobs.sha256')})
    or exists (select 1 from documents where blob = ${is.ref('blobs.sha256')}))`
}

/** Those of `keys` under which a content of the store rests. */
export async function findKeys(store: Store, keys: readonly string[]): Promise<string[]> {
  const rows = await sharedStore(store).selectFrom('blobs').select('key').where('key', 'in', keys).execute()
  return rows.flatMap(({ key }) => key ?? [])
}
