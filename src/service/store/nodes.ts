// Files and folders of a project, found and changed by path.

import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { ServiceError } from '../service-error.ts'
import type { Database, NodeRow, Store } from './database.ts'

export interface NewFile {
  readonly projectId: string
  /** Absolute, not the root. */
  readonly path: string
  readonly size: number
  readonly mimetype: string
  /** SHA-256 of content the blob store already holds. */
  readonly blob: string
}

export function findByPath(store: Store, projectId: string, path: string): Promise<NodeRow | undefined> {
  return store
    .selectFrom('nodes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('path', '=', path)
    .executeTakeFirst()
}

export function findById(store: Store, id: string): Promise<NodeRow | undefined> {
  return store.selectFrom('nodes').selectAll().where('id', '=', id).executeTakeFirst()
}

/** What a listing shows of a node. */
export type ChildRow = Pick<NodeRow, (typeof childColumns)[number]>
const childColumns = ['id', 'name', 'kind', 'modified_at', 'size', 'mimetype'] as const

/** Up to `limit` children in the order of their names, those after the name `after`. */
export function listChildren(
  store: Store,
  folderId: string,
  after: string,
  limit: number,
): Promise<ChildRow[]> {
  return store
    .selectFrom('nodes')
    .select(childColumns)
    .where('parent_id', '=', folderId)
    .where('name', '>', after)
    .orderBy('name')
    .limit(limit)
    .execute()
}

/**
 * Adds a file and the folders above it; answers every node made, the file last. Throws ServiceError 400 when a parent is a
 * file, and a unique violation when the path is taken: the constraint decides between two writers.
 */
export async function createFile(
  transaction: Transaction<Database>,
  file: NewFile,
  now: number,
): Promise<NodeRow[]> {
  const modifiedAt = await advanceClock(transaction, file.projectId, now)
  const { parent, folders } = await ensureParents(transaction, file, modifiedAt)
  const node = { ...newNode(file.projectId, parent, nameOf(file.path), modifiedAt), ...contentOf(file) }
  await transaction.insertInto('nodes').values(node).execute()
  return [...folders, node]
}

/** The refusal of an upload to a path that is taken. */
export function taken(kind: NodeRow['kind'], path: string): ServiceError {
  return new ServiceError(409, `a ${kind} already exists at ${path}; delete it first`)
}

/** Removes a node with everything below it; answers all that were removed: none when nothing is there. */
export async function removeTree(
  transaction: Transaction<Database>,
  projectId: string,
  path: string,
): Promise<NodeRow[]> {
  const ofProject = transaction.deleteFrom('nodes').where('project_id', '=', projectId).returningAll()
  // Everything that begins with `path/`, for `0` is the byte after the slash. As one statement with an `or`, the two
  // would be answered by reading the whole project.
  const below = await ofProject.where('path', '>', `${path}/`).where('path', '<', `${path}0`).execute()
  return [...below, ...(await ofProject.where('path', '=', path).execute())]
}

/** Those of `blobs` that some node refers to. */
export async function findUsedBlobs(store: Store, blobs: readonly string[]): Promise<string[]> {
  const rows = await store.selectFrom('nodes').select('blob').distinct().where('blob', 'in', blobs).execute()
  return rows.flatMap((row) => row.blob ?? [])
}

/** A time later than any given out in this project, so that a replaced file never looks unchanged. Takes the write lock. */
async function advanceClock(
  transaction: Transaction<Database>,
  projectId: string,
  now: number,
): Promise<number> {
  const row = await transaction
    .updateTable('projects')
    .set((set) => ({
      clock_ms: set
        .case()
        .when('clock_ms', '<', now)
        .then(now)
        .else(set('clock_ms', '+', 1))
        .end(),
    }))
    .where('id', '=', projectId)
    .returning('clock_ms')
    .executeTakeFirst()
  if (row === undefined) throw new ServiceError(404, 'the project is gone')
  return row.clock_ms
}

async function ensureParents(
  transaction: Transaction<Database>,
  file: NewFile,
  modifiedAt: number,
): Promise<{ parent: NodeRow; folders: NodeRow[] }> {
  const paths = parentPaths(file.path)
  const known = await transaction
    .selectFrom('nodes')
    .selectAll()
    .where('project_id', '=', file.projectId)
    .where('path', 'in', paths)
    .execute()
  const byPath = new Map(known.map((node) => [node.path, node]))
  const folders: NodeRow[] = []
  let parent: NodeRow | undefined
  for (const path of paths) {
    let node = byPath.get(path)
    if (node?.kind === 'file') throw new ServiceError(400, `${path} is a file, not a folder`)
    if (node === undefined) {
      if (parent === undefined) throw new ServiceError(404, 'the project has no root folder')
      node = newNode(file.projectId, parent, nameOf(path), modifiedAt)
      folders.push(node)
    }
    parent = node
  }
  if (parent === undefined) throw new TypeError(`no parent: ${file.path}`)
  if (folders.length > 0) await transaction.insertInto('nodes').values(folders).execute()
  return { parent, folders }
}

function newNode(projectId: string, parent: NodeRow, name: string, modifiedAt: number): NodeRow {
  return {
    id: randomUUID(),
    project_id: projectId,
    parent_id: parent.id,
    name,
    path: parent.path === '/' ? `/${name}` : `${parent.path}/${name}`,
    kind: 'folder',
    modified_at: modifiedAt,
    size: null,
    mimetype: null,
    blob: null,
  }
}

function contentOf(file: NewFile): Pick<NodeRow, 'kind' | 'size' | 'mimetype' | 'blob'> {
  return { kind: 'file', size: file.size, mimetype: file.mimetype, blob: file.blob }
}

/** `/a/b/c` → `/`, `/a`, `/a/b`. */
function parentPaths(path: string): string[] {
  const paths = ['/']
  for (let slash = path.indexOf('/', 1); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    paths.push(path.slice(0, slash))
  }
  return paths
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
