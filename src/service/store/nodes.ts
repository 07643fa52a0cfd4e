// Files and folders of a project, found by path or id.

import { type SelectQueryBuilder, sql } from './kysely.ts'
import { ServiceError } from '../service-error.ts'
import type { Database, NodeRow, Store } from './database.ts'
import { prepared } from './prepared.ts'

/** Undefined if there is no node at the path. */
export async function findByPath(
  store: Store,
  projectId: string,
  path: string,
): Promise<NodeRow | undefined> {
  return (await selectByPath(store, { projectId, path }))[0]
}
const selectByPath = prepared((store, params: { projectId: string; path: string }) =>
  live(store.selectFrom('nodes').selectAll())
    .where('nodes.project_id', '=', params.projectId)
    .where('nodes.path', '=', params.path),
)

export async function findById(store: Store, id: string): Promise<NodeRow | undefined> {
  return (await selectById(store, { id }))[0]
}
const selectById = prepared((store, params: { id: string }) =>
  live(store.selectFrom('nodes').selectAll()).where('nodes.id', '=', params.id),
)

/** Excludes nodes below a deleted folder that is not cleared yet (`detached.ts`). */
function live<Row>(
  query: SelectQueryBuilder<Database, 'nodes', Row>,
): SelectQueryBuilder<Database, 'nodes', Row> {
  return query.where(
    sql<boolean>`not exists (select 1 from detached where detached.project_id = nodes.project_id
      and nodes.path > detached.path || '/' and nodes.path < detached.path || '0'
      and nodes.modified_at <= detached.detached_at)`,
  )
}

/** The columns of a node that a listing shows. */
export type ChildRow = Pick<NodeRow, (typeof childColumns)[number]>
const childColumns = ['id', 'name', 'kind', 'modified_at', 'size', 'mimetype'] as const

/**
 * Up to `limit` children with names after `after`, in the order of their names. A deleted child is not among
 * them: a folder made anew has another id.
 */
export function listChildren(
  store: Store,
  folderId: string,
  after: string,
  limit: number,
): Promise<ChildRow[]> {
  return selectChildren(store, { folderId, after, limit })
}
const selectChildren = prepared((store, params: { folderId: string; after: string; limit: number }) =>
  store
    .selectFrom('nodes')
    .select(childColumns)
    .where('parent_id', '=', params.folderId)
    .where('name', '>', params.after)
    .orderBy('name')
    .limit(params.limit),
)

/** The error for an upload to an existing path. */
export function taken(kind: NodeRow['kind'], path: string): ServiceError {
  return new ServiceError(409, `a ${kind} already exists at ${path}; delete it first`)
}

/** Returns the `blobs` (SHA-256) that some node refers to. */
export async function findUsedBlobs(store: Store, blobs: readonly string[]): Promise<string[]> {
  const rows = await store.selectFrom('nodes').select('blob').distinct().where('blob', 'in', blobs).execute()
  return rows.flatMap((row) => row.blob ?? [])
}

/** Returns a time (epoch ms) later than any `modified_at` of the project, so that a replaced file never looks unchanged. */
export async function advanceClock(store: Store, projectId: string, now: number): Promise<number> {
  return (await enterFolder(store, projectId, '', now)).clockMs
}

/** As `advanceClock`, and returns the id of the folder at a path, undefined if there is none. One statement does both. */
export async function enterFolder(
  store: Store,
  projectId: string,
  path: string,
  now: number,
): Promise<{ readonly clockMs: number; readonly folderId: string | undefined }> {
  const [row] = await updateClock(store, { projectId, path, now })
  if (row === undefined) throw new ServiceError(404, 'the project is gone')
  return { clockMs: row.clock_ms, folderId: row.folder_id ?? undefined }
}
const updateClock = prepared((store, params: { projectId: string; path: string; now: number }) =>
  store
    .updateTable('projects')
    .set((set) => ({
      clock_ms: set
        .case()
        .when('clock_ms', '<', params.now)
        .then(params.now)
        .else(set('clock_ms', '+', 1))
        .end(),
    }))
    .where('id', '=', params.projectId)
    .returning([
      'clock_ms',
      live(store.selectFrom('nodes').select('nodes.id'))
        .where('nodes.project_id', '=', params.projectId)
        .where('nodes.path', '=', params.path)
        .where('nodes.kind', '=', 'folder')
        .as('folder_id'),
    ]),
)
