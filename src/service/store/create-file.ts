// Creation of a file and of the folders above it.

import { ServiceError } from '../service-error.ts'
import type { NodeRow, Store } from './database.ts'
import { freePath } from './detached.ts'
import { createNodeId } from './node-id.ts'
import { enterFolder, findByPath } from './nodes.ts'
import { prepared } from './prepared.ts'
import { isUniqueViolation } from './transact.ts'
import { folderOf, nameOf, pathBelow } from '../../path.ts'

export interface NewFile {
  readonly projectId: string
  /** Absolute, and not `/`. */
  readonly path: string
  readonly size: number
  readonly mimetype: string
  /** SHA-256 of the content, which is in the blob store already. */
  readonly blob: string
}

/**
 * Adds a file and the folders above it. Returns the file. Throws ServiceError 400 if a parent is a file, and a unique
 * violation if the path is taken: the constraint decides which of two writers was first. `insert`: PostgreSQL has its own
 * (`postgres/changes.ts`).
 */
export async function createFile(
  store: Store,
  file: NewFile,
  now: number,
  insert: Insert = insertNode,
): Promise<NodeRow> {
  const folder = folderOf(file.path)
  const { clockMs: modifiedAt, folderId } = await enterFolder(store, file.projectId, folder, now)
  // Usually the folder exists, and its id came with the clock.
  const parent =
    folderId === undefined
      ? await ensureParents(store, file, modifiedAt, insert)
      : { id: folderId, path: folder }
  const node = { ...newNode(file.projectId, parent, nameOf(file.path), modifiedAt), ...contentOf(file) }
  await insert(store, node)
  return node
}

/** Walks up from the file to the first existing folder, and creates the missing ones below it. */
async function ensureParents(
  store: Store,
  file: NewFile,
  modifiedAt: number,
  insert: Insert,
): Promise<NodeRow> {
  const missing: string[] = []
  let parent: NodeRow | undefined
  for (let path = folderOf(file.path); parent === undefined; path = folderOf(path)) {
    parent = await findByPath(store, file.projectId, path)
    if (parent?.kind === 'file') throw new ServiceError(400, `${path} is a file, not a folder`)
    if (parent === undefined && path === '/') throw new ServiceError(404, 'the project has no root folder')
    if (parent === undefined) missing.push(path)
  }
  for (const path of missing.reverse()) {
    parent = newNode(file.projectId, parent, nameOf(path), modifiedAt)
    await insert(store, parent)
  }
  return parent
}

type Insert = (store: Store, node: NodeRow) => Promise<unknown>

async function insertNode(store: Store, node: NodeRow): Promise<void> {
  try {
    await insertRow(store, node)
  } catch (error) {
    // A deleted node that is not cleared yet may have the path.
    if (!isUniqueViolation(error) || !(await freePath(store, node.project_id, node.path))) throw error
    await insertRow(store, node)
  }
}
export const insertRow: Insert = prepared((store, node: NodeRow) =>
  store.insertInto('nodes').values({
    id: node.id,
    project_id: node.project_id,
    parent_id: node.parent_id,
    name: node.name,
    path: node.path,
    kind: node.kind,
    modified_at: node.modified_at,
    size: node.size,
    mimetype: node.mimetype,
    blob: node.blob,
  }),
)

function newNode(
  projectId: string,
  parent: Pick<NodeRow, 'id' | 'path'>,
  name: string,
  modifiedAt: number,
): NodeRow {
  return {
    id: createNodeId(modifiedAt),
    project_id: projectId,
    parent_id: parent.id,
    name,
    path: pathBelow(parent.path, name),
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
