// The sweep of a service with several servers ("nodes"). One node at a time removes contents to which no document refers, by
// their table. Once per `graceMs` one node also lists the backend, and removes blobs that a crash left without a row.

import type { Log } from '../../log.ts'
import type { Store } from '../store/database.ts'
import type { Commits } from '../store/opened-store.ts'
import { transact } from '../store/transact.ts'
import { findKeys, takeUnreferenced } from '../store/postgres/blobs.ts'
import { sharedStore } from '../store/postgres/database.ts'
import { tryLock } from '../store/postgres/locks.ts'
import type { SharedBackend } from './backend.ts'

const batchBlobs = 500

export interface SharedContentsParts {
  readonly backend: SharedBackend
  readonly store: Store
  readonly commits: Commits
  readonly now: () => number
  /** How long a content is kept after its last reference, in milliseconds: longer than any transaction and any request. */
  readonly graceMs: number
  readonly log: Log
}

export async function sweepOnce(parts: SharedContentsParts, signal: AbortSignal): Promise<void> {
  const { backend, store, now, graceMs } = parts
  while (!signal.aborted) {
    // The row is deleted before its blob: a crash in between leaves a blob without a row, which the listing below finds, and
    // never a row without a blob, to which a new document could refer.
    const removed = await transact(store, async (transaction) =>
      (await tryLock(transaction, 'sweeping'))
        ? takeUnreferenced(transaction, now() - graceMs, batchBlobs)
        : undefined,
    )
    if (removed === undefined) break
    // Small contents have no key: their bytes were in the row.
    for (const { key } of removed) if (key !== null) await backend.remove(key)
  }
  if (signal.aborted || !(await claimListing(parts))) return
  const before = now() - graceMs
  await backend.dropStaged(before)
  if (!(await isDatabaseOfBackend(parts, before))) return
  for await (const keys of backend.listBefore(before)) {
    if (signal.aborted) return
    for (let at = 0; at < keys.length; at += batchBlobs) {
      const batch = keys.slice(at, at + batchBlobs)
      const known = new Set(await findKeys(store, batch))
      for (const key of batch) if (!known.has(key)) await backend.remove(key)
    }
  }
}

/** False where the backend has blobs and the database has a row for none: it may be another service's, and all would be removed. */
async function isDatabaseOfBackend(
  { backend, store, log }: SharedContentsParts,
  before: number,
): Promise<boolean> {
  let count = 0
  for await (const keys of backend.listBefore(before)) {
    for (let at = 0; at < keys.length; at += batchBlobs)
      if ((await findKeys(store, keys.slice(at, at + batchBlobs))).length > 0) return true
    count += keys.length
  }
  if (count === 0) return true
  log.error(
    { contents: count },
    'the database knows none of the contents that are there, and none is removed: is it the database of this folder or bucket?',
  )
  return false
}

/** Records in `upkeep` that this node lists the blobs now. False where a node did so within the last `graceMs`. */
async function claimListing({ store, now, graceMs }: SharedContentsParts): Promise<boolean> {
  const row = { name: 'listing', done_at: now() }
  const claimed = await sharedStore(store)
    .insertInto('upkeep')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ done_at: row.done_at })
        .where('upkeep.done_at', '<=', row.done_at - graceMs),
    )
    .returning('name')
    .execute()
  return claimed.length > 0
}
