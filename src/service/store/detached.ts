// Deleting a folder of any size: it is detached by one short statement, which is all the caller waits for, and what was
// below it is cleared in batches.
//
//   live ──removeTree──→ gone                                    up to one batch of nodes
//     └────removeTree──→ detached ──clearDetached, batches──→ gone
//
// A detached folder is a row that says: below this path, what is not younger than I am is deleted. The project's clock only
// goes forwards, so whatever is uploaded there later is younger. A deleted node that stands in the way of a new one is
// moved aside, to `path/<NUL>id`: still below the detached path, and ahead of its children, which are cleared before it.

import { sql } from './kysely.ts'
import { prepared } from './prepared.ts'
import type { DetachedTable, NodeRow, Store } from './database.ts'
import { engineOf } from './engine-adapter.ts'
import { advanceClock, findByPath } from './nodes.ts'

/** Nodes cleared in one transaction: about 20 ms. */
const clearBatch = 1000

export interface Removal {
  /** Undefined when nothing was there. */
  readonly kind: NodeRow['kind'] | undefined
  /** Content that lost a reference. */
  readonly blobs: readonly string[]
  /** More waits to be cleared. */
  readonly isDetached: boolean
}

/** Deletes the node at a path with everything below it. */
export async function removeTree(
  store: Store,
  projectId: string,
  path: string,
  now: number,
): Promise<Removal> {
  const top = await findByPath(store, projectId, path)
  if (top === undefined) return { kind: undefined, blobs: [], isDetached: false }
  if (top.kind === 'file') {
    await deleteNode(store, { id: top.id })
    return { kind: 'file', blobs: top.blob === null ? [] : [top.blob], isDetached: false }
  }
  const detachedAt = await advanceClock(store, projectId, now)
  const cleared = await clearBelow(store, { projectId, path, detachedAt, limit: clearBatch })
  if (cleared.length < clearBatch) await deleteNode(store, { id: top.id })
  else await detach(store, top, detachedAt)
  return { kind: 'folder', blobs: blobsOf(cleared), isDetached: cleared.length === clearBatch }
}

/** Clears a batch of what is detached; answers content that lost a reference, undefined when nothing is left to clear. */
export async function clearDetached(store: Store): Promise<string[] | undefined> {
  const folder = await nextDetached(store)
  return folder === undefined ? undefined : clearFolder(store, folder)
}

export async function nextDetached(store: Store): Promise<DetachedTable | undefined> {
  return (await selectDetached(store, {}))[0]
}

/** Detached folders that are not cleared yet. */
export async function countDetached(store: Store): Promise<number> {
  const { count } = await store
    .selectFrom('detached')
    .select((all) => all.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Clears a batch below one detached folder; answers content that lost a reference. */
export async function clearFolder(store: Store, folder: DetachedTable): Promise<string[]> {
  const { project_id: projectId, path, detached_at: detachedAt } = folder
  const cleared = await clearBelow(store, { projectId, path, detachedAt, limit: clearBatch })
  if (cleared.length < clearBatch) {
    await store.deleteFrom('detached').where('project_id', '=', projectId).where('path', '=', path).execute()
  }
  return blobsOf(cleared)
}

/** Moves a deleted node that still has its path out of the way; false where a node that lives has it, or none. */
export async function makeWay(store: Store, projectId: string, path: string): Promise<boolean> {
  if ((await findByPath(store, projectId, path)) !== undefined) return false
  const moved = await moveAside(store, { projectId, path })
  return moved.length > 0
}

async function detach(store: Store, top: NodeRow, detachedAt: number): Promise<void> {
  await moveAside(store, { projectId: top.project_id, path: top.path })
  await store
    .insertInto('detached')
    .values({ project_id: top.project_id, path: top.path, detached_at: detachedAt })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'path']).doUpdateSet({ detached_at: detachedAt }),
    )
    .execute()
}

const selectDetached = prepared((store) => store.selectFrom('detached').selectAll().limit(1))

const deleteNode = prepared((store, is: { id: string }) => store.deleteFrom('nodes').where('id', '=', is.id))

const moveAside = prepared((store, is: { projectId: string; path: string }) =>
  store
    .updateTable('nodes')
    .set({ path: sql`path || ${engineOf(store).aside} || id`, parent_id: null })
    .where('project_id', '=', is.projectId)
    .where('path', '=', is.path)
    .returning('id'),
)

// The last by path come first: nodes go before the folders they are in.
const clearBelow = prepared(
  (store, is: { projectId: string; path: string; detachedAt: number; limit: number }) =>
    store
      .deleteFrom('nodes')
      .where('id', 'in', (of) =>
        of
          .selectFrom('nodes')
          .select('id')
          .where('project_id', '=', is.projectId)
          // Everything that begins with `path/`, for `0` is the byte after the slash.
          .where('path', '>', sql<string>`${is.path} || '/'`)
          .where('path', '<', sql<string>`${is.path} || '0'`)
          .where('modified_at', '<=', is.detachedAt)
          .orderBy('path', 'desc')
          .limit(is.limit),
      )
      .returning('blob'),
)

function blobsOf(rows: readonly { blob: string | null }[]): string[] {
  return rows.flatMap((row) => row.blob ?? [])
}
