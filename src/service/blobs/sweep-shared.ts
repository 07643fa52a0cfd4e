// Takes away bytes that nothing refers to any more: contents by the table, and what a crash left without a row by looking
// through all there is, once in a while. One node at a time.

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
  /** How long content that nothing refers to is kept, in milliseconds: longer than any transaction and any request. */
  readonly graceMs: number
  readonly log: Log
}

export async function sweepOnce(parts: SharedContentsParts, signal: AbortSignal): Promise<void> {
  const { backend, store, now, graceMs } = parts
  while (!signal.aborted) {
    // The row goes first: bytes without a row are found below, a row without bytes would be a document's.
    const gone = await transact(store, async (transaction) =>
      (await tryLock(transaction, 'sweeping'))
        ? takeUnreferenced(transaction, now() - graceMs, batchBlobs)
        : undefined,
    )
    if (gone === undefined) break
    for (const { key } of gone) if (key !== null) await backend.remove(key)
  }
  if (signal.aborted || !(await isListingDue(parts))) return
  const before = now() - graceMs
  await backend.dropStaged(before)
  if (!(await knowsSome(parts, before))) return
  for await (const keys of backend.listBefore(before)) {
    if (signal.aborted) return
    for (let at = 0; at < keys.length; at += batchBlobs) {
      const batch = keys.slice(at, at + batchBlobs)
      const known = new Set(await findKeys(store, batch))
      for (const key of batch) if (!known.has(key)) await backend.remove(key)
    }
  }
}

/**
 * False where there are contents and the database knows none of them: a new database, or another service's, in front of
 * somebody's documents. Bytes that crashes left behind wait until the database knows a content.
 */
async function knowsSome({ backend, store, log }: SharedContentsParts, before: number): Promise<boolean> {
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

/** Once within the time unreferenced content is kept, by whichever node is first. */
async function isListingDue({ store, now, graceMs }: SharedContentsParts): Promise<boolean> {
  const is = { name: 'listing', done_at: now() }
  const taken = await sharedStore(store)
    .insertInto('upkeep')
    .values(is)
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ done_at: is.done_at })
        .where('upkeep.done_at', '<=', is.done_at - graceMs),
    )
    .returning('name')
    .execute()
  return taken.length > 0
}
