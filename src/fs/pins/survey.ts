// Survey of the documents at and under a path, as the tree shows them now. Folders are listed one after the other where needed.
// Fetches no content.

import type { RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { fingerprintOf, type Version } from '../../content/fingerprint.ts'
import type { Listing } from '../tree/listings.ts'
import { pathIn, type Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'

/** One document as it is shown. */
export interface FoundDocument {
  readonly path: string
  /** Undefined for a document whose content is on this machine anyway: unsent, or never sent. */
  readonly version: Version | undefined
  /** The record with its link, and when it was asked for (ms of the steady clock). */
  readonly record: RemoteFile | undefined
  readonly askedAt: number
  readonly bytes: number
}

export interface Survey {
  readonly documents: readonly FoundDocument[]
  readonly folders: number
  /** One sentence for each folder that could not be listed: its documents are missing above. */
  readonly problems: readonly string[]
}

/** Throws ENOENT if nothing has this name; folders below it that cannot be listed are named in `problems`. */
export async function survey(tree: Tree, path: string, signal: AbortSignal): Promise<Survey> {
  const documents: FoundDocument[] = []
  const problems: string[] = []
  const folders: Node[] = []
  const start = await find(tree, path)
  if (start.folder === undefined) documents.push(documentOf(start, undefined, start.path, 0))
  else folders.push(start)
  for (const folder of folders) {
    signal.throwIfAborted()
    const listing = await listed(tree, folder, problems)
    if (listing === undefined) continue
    for (const name of tree.names(folder, listing)) {
      const record = listing.names.get(name)
      const known = tree.keptChild(folder, name)
      const isFolder = known === undefined ? record?.kind === 'folder' : known.folder !== undefined
      const child = isFolder ? tree.child(folder, name, listing) : undefined
      if (child !== undefined) folders.push(child)
      else if (!isFolder) {
        const node = known ?? folder.folder?.children.get(name)
        const file = record?.kind === 'file' ? record : undefined
        documents.push(documentOf(node, file, pathIn(folder, name), listing.requestedAt))
      }
    }
  }
  return { documents, folders: folders.length, problems }
}

async function find(tree: Tree, path: string): Promise<Node> {
  let node = tree.nodes.root
  for (const name of path.split('/')) {
    if (name === '') continue
    const child = node.folder === undefined ? undefined : tree.child(node, name, await tree.listing(node))
    if (child === undefined) throw new ErrnoError('ENOENT', `${path}: nothing has this name`)
    node = child
  }
  return node
}

async function listed(tree: Tree, folder: Node, problems: string[]): Promise<Listing | undefined> {
  const { path } = folder
  try {
    return await tree.listing(folder)
  } catch (error) {
    // The folder was removed meanwhile: no document is missing.
    if ((error as { code?: unknown }).code !== 'ENOENT')
      problems.push(`${path} cannot be listed: ${reasonOf(error)}`)
    return undefined
  }
}

/** Returns a document from its node, which knows it best, or else from its record in a listing asked for at `listedAt`. */
export function documentOf(
  node: Node | undefined,
  record: RemoteFile | undefined,
  path: string,
  listedAt: number,
): FoundDocument {
  if (
    node?.content !== undefined ||
    (node !== undefined && node.remote === undefined && record === undefined)
  )
    return { path, version: undefined, record: undefined, askedAt: 0, bytes: node.size ?? 0 }
  if (node?.version !== undefined)
    return {
      path,
      version: node.version,
      record: node.remote,
      askedAt: node.stored.askedAt,
      bytes: node.version.size ?? 0,
    }
  if (record === undefined) return { path, version: undefined, record, askedAt: 0, bytes: 0 }
  const version = { path, fingerprint: fingerprintOf(record), size: record.size }
  return { path, version, record, askedAt: listedAt, bytes: record.size ?? 0 }
}

/** Returns the message of an error, for people. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
