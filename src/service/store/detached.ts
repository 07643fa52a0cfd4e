// Deletion of a folder of any size: the caller waits for one short transaction that detaches it, and the nodes below it are
// cleared in batches later.
//
//   live ──removeTree──→ gone                                    up to one batch of nodes
//     └────removeTree──→ detached ──clearDetached, batches──→ gone
//
// A row of `detached` means: every node below this path that is not younger than the row is deleted. The project's clock never
// goes back, so later uploads there are younger. A deleted node whose path a new one needs is moved aside, to `path/<NUL>id`:
// still below the detached path, and sorted before its children, which are cleared first.

import { sql } from './kysely.ts'
import { prepared } from './prepared.ts'
import type { DetachedTable, NodeRow, Store } from './database.ts'
import { engineOf } from './engine-adapter.ts'
import { advanceClock, findByPath } from './nodes.ts'

/** Nodes cleared in one transaction, which takes about 20 ms. */
const clearBatch = 1000

export interface Removal {
  /** Undefined if there was no node. */
  readonly kind: NodeRow['kind'] | undefined
  /** SHA-256 of contents that lost a reference. */
  readonly blobs: readonly string[]
  /** True if nodes below the folder still wait to be cleared. */
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

/** Clears a batch of detached nodes. Returns the contents that lost a reference; undefined if nothing is left to clear. */
export async function clearDetached(store: Store): Promise<string[] | undefined> {
  const folder = await nextDetached(store)
  return folder === undefined ? undefined : clearFolder(store, folder)
}

export async function nextDetached(store: Store): Promise<DetachedTable | undefined> {
  return (await selectDetached(store, {}))[0]
}

/** The number of detached folders that are not cleared yet. */
export async function countDetached(store: Store): Promise<number> {
  const { count } = await store
    .selectFrom('detached')
    .select((all) => all.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Clears a batch of nodes below one detached folder. Returns the contents that lost a reference. */
export async function clearFolder(store: Store, folder: DetachedTable): Promise<string[]> {
  const { project_id: projectId, path, detached_at: detachedAt } = folder
  const cleared = await clearBelow(store, { projectId, path, detachedAt, limit: clearBatch })
  if (cleared.length < clearBatch) {
    await store.deleteFrom('detached').where('project_id', '=', projectId).where('path', '=', path).execute()
  }
  return blobsOf(cleared)
}

/** Frees a path that a deleted node still has. Returns false if a live node has the path, or none. */
export async function freePath(store: Store, projectId: string, path: string): Promise<boolean> {
  if ((await findByPath(store, projectId, path)) !== undefined) return false
  const moved = await renameDeleted(store, { projectId, path })
  return moved.length > 0
}

async function detach(store: Store, top: NodeRow, detachedAt: number): Promise<void> {
  await renameDeleted(store, { projectId: top.project_id, path: top.path })
  await store
    .insertInto('detached')
    .values({ project_id: top.project_id, path: top.path, detached_at: detachedAt })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'path']).doUpdateSet({ detached_at: detachedAt }),
    )
    .execute()
}

const selectDetached = prepared((store) => store.selectFrom('detached').selectAll().limit(1))

const deleteNode = prepared((store, params: { id: string }) =>
  store.deleteFrom('nodes').where('id', '=', params.id),
)

const renameDeleted = prepared((store, params: { projectId: string; path: string }) =>
  store
    .updateTable('nodes')
    .set({ path: sql`path || ${engineOf(store).aside} || id`, parent_id: null })
    .where('project_id', '=', params.projectId)
    .where('path', '=', params.path)
    .returning('id'),
)

// In descending order of path: children are deleted before their folder.
const clearBelow = prepared(
  (store, params: { projectId: string; path: string; detachedAt: number; limit: number }) =>
    store
      .deleteFrom('nodes')
      .where('id', 'in', (of) =>
        of
          .selectFrom('nodes')
          .select('id')
          .where('project_id', '=', params.projectId)
          // All paths that begin with `path/`: `0` is the byte after the slash.
          .where('path', '>', sql<string>`${params.path} || '/'`)
          .where('path', '<', sql<string>`${params.path} || '0'`)
          .where('modified_at', '<=', params.detachedAt)
          .orderBy('path', 'desc')
          .limit(params.limit),
      )
      .returning('blob'),
)

function blobsOf(rows: readonly { blob: string | null }[]): string[] {
  return rows.flatMap((row) => row.blob ?? [])
}
