// The table of contents: which exist, where their bytes are stored, and since when nothing refers to them. A transaction that
// adopts a content locks its row, so that a sweep cannot delete the bytes meanwhile.
//
//   adopt ──→ referenced ──last reference deleted (a trigger)──→ unreferenced since ──takeUnreferenced, a day later──→ gone
//     └──adopt for a transaction to come──────────────────────────────↑    └──adopt──→ referenced

import { type ExpressionBuilder, type SqlBool, sql } from '../kysely.ts'
import { ServiceError } from '../../service-error.ts'
import type { Database, Store } from '../database.ts'
import { prepared } from '../prepared.ts'
import { type BlobsTable, type SharedTables, sharedStore } from './database.ts'

/** Complete content: in memory (`bytes`), or stored under `key` in a bucket or folder. */
export interface WholeContent {
  readonly sha256: string
  readonly size: number
  readonly bytes?: Buffer
  readonly key?: string
  /** Until this time (`performance.now()`) no sweep takes the bytes under `key` for leftovers of a crash. */
  readonly adoptUntilMs?: number
}

/**
 * Adds the content, unless it exists, with `unreferencedSince` (null: the transaction refers to it). Returns the key of its
 * stored bytes, null for small content. A damaged small content is replaced. Throws ServiceError 503 if its upload took so
 * long that a sweep may delete its bytes.
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
/** Replaces the bytes of a small content only if they differ, that is, if they are damaged. */
const wholeBytes = sql<Buffer | null>`case when blobs.bytes <> excluded.bytes then excluded.bytes else blobs.bytes end`
const upsert = prepared(
  (
    store,
    row: {
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
        sha256: row.sha256,
        size: row.size,
        bytes: row.bytes,
        key: row.key,
        unreferenced_since: row.since,
      })
      .onConflict((conflict) =>
        conflict.column('sha256').doUpdateSet({ unreferenced_since: row.since as number, bytes: wholeBytes }),
      )
      .returning('key'),
)

/** Records that the content is now stored under `key`. Returns false if it was no longer under `former`. */
export async function changeKey(store: Store, sha256: string, former: string, key: string): Promise<boolean> {
  const rows = await sharedStore(store)
    .updateTable('blobs')
    .set({ key })
    .where('sha256', '=', sha256)
    .where('key', '=', former)
    .returning('sha256')
    .execute()
  return rows.length > 0
}

/** Restarts the grace period of a content, for a transaction that will refer to it. Returns false if it does not exist. */
export async function renewGrace(store: Store, sha256: string, now: number): Promise<boolean> {
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
const selectBlob = prepared((store, params: { sha256: string }) =>
  sharedStore(store).selectFrom('blobs').select(['bytes', 'key']).where('sha256', '=', params.sha256),
)

/** Deletes up to `limit` rows unreferenced since `before`. Returns the keys of bytes to delete; undefined if no row is left. */
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
    .where((eb) => eb.not(isReferenced(eb)))
    .returning('key')
    .execute()
}

function isReferenced(
  eb: ExpressionBuilder<Database & SharedTables, 'blobs'>,
): ReturnType<typeof sql<SqlBool>> {
  return sql<SqlBool>`(exists (select 1 from nodes where blob = ${eb.ref('blobs.sha256')})
    or exists (select 1 from documents where blob = ${eb.ref('blobs.sha256')}))`
}

/** Returns the `keys` under which a content of the store is recorded. */
export async function findKeys(store: Store, keys: readonly string[]): Promise<string[]> {
  const rows = await sharedStore(store).selectFrom('blobs').select('key').where('key', 'in', keys).execute()
  return rows.flatMap(({ key }) => key ?? [])
}
