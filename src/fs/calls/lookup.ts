// LOOKUP and GETATTR: from names to nodes, and from nodes to their attributes. With checks of nodes for other calls.

import { ErrnoError } from '../../errno-error.ts'
import { abortable } from '../../abortable.ts'
import { nameMaxBytes } from '../../path.ts'
import type { Reach } from '../../content/reach/reach.ts'
import { attributesOf, type Owner } from '../tree/attributes.ts'
import type { Listing } from '../tree/listings.ts'
import type { Node } from '../tree/node.ts'
import { isKept } from '../tree/node-table.ts'
import type { Caller, Entry, MaybePromise, NegativeEntry } from '../operations.ts'
import type { Tree } from '../tree/tree.ts'
import type { Sizes } from './sizes.ts'

/** Parts from which an answer about a node is made. */
export interface EntryParts {
  readonly tree: Tree
  readonly owner: Owner
  readonly settings: { readonly cacheTtlMs: number }
}

export interface LookupParts extends EntryParts {
  readonly reach: Reach
  readonly sizes: Sizes
}

/** Applies `use` to the folder's listing: at once where it is fresh. */
export function withListing<T>(
  tree: Tree,
  folder: Node,
  caller: Caller,
  use: (listing: Listing) => MaybePromise<T>,
): MaybePromise<T> {
  const listing = tree.listing(folder)
  return listing instanceof Promise ? abortable(listing, caller.signal).then(use) : use(listing)
}

/** Returns a node's attributes, and for how long the door may cache them. `listedTtlMs`: that time, if they come from a listing. */
export function entryOf(parts: EntryParts, node: Node, listedTtlMs?: number): Entry {
  const ttlMs = ttlOf(parts, node, listedTtlMs)
  return { attributes: attributesOf(node, parts.owner), entryTtlMs: ttlMs, attributeTtlMs: ttlMs }
}

/** Entries that this drive decides are valid until it notifies the door, so the TTL is the longest; others as long as their listing. */
function ttlOf(parts: EntryParts, node: Node, listedTtlMs: number | undefined): number {
  if (node.parent === undefined) return parts.settings.cacheTtlMs
  if (isKept(node)) return parts.settings.cacheTtlMs
  if (listedTtlMs !== undefined) return listedTtlMs
  const listing = parts.tree.listings.known(node.parent)
  return listing === undefined ? 0 : parts.tree.listings.doorTtlMs(listing)
}

/** Notes that the program is shown the service's version, if the node shows that: its saves may replace it (`seen.ts`). */
export function noteShown({ seen }: Tree, node: Node, caller: Caller): void {
  const { remote, door } = node
  if (remote === undefined || door.wasTold(remote)) return
  const { shown } = node
  if (shown !== undefined && seen.told(node.path, shown, caller)) door.told(remote)
}

export function lookup(
  parts: LookupParts,
  parent: number,
  name: string,
  caller: Caller,
): MaybePromise<Entry | NegativeEntry> {
  if (Buffer.byteLength(name) > nameMaxBytes)
    throw new ErrnoError('ENAMETOOLONG', `names are at most ${nameMaxBytes} bytes long`)
  const folder = parts.tree.nodes.getFolder(parent)
  checkStands(folder)
  const here = parts.tree.keptChild(folder, name)
  const found = (node: Node): MaybePromise<Entry | NegativeEntry> => {
    const isThere = (): boolean => isStill(node, folder, name) && parts.tree.nodes.find(node.ino) === node
    const again = (): MaybePromise<Entry | NegativeEntry> => lookup(parts, parent, name, caller)
    const answer = parts.sizes.whenKnown<Entry | NegativeEntry>(node, caller, () => {
      if (!isThere()) return again()
      node.door.remember()
      noteShown(parts.tree, node, caller)
      return entryOf(parts, node)
    })
    if (!(answer instanceof Promise)) return answer
    // An error about a document that has left the name meanwhile is no answer for the name.
    return answer.catch((error: unknown) => {
      if (isThere() || caller.signal.aborted) throw error
      return again()
    })
  }
  if (here !== undefined && parts.reach.isAway) return found(here)
  return withListing<Entry | NegativeEntry>(parts.tree, folder, caller, (listing) => {
    const node = parts.tree.child(folder, name, listing)
    return node === undefined
      ? { attributes: undefined, entryTtlMs: parts.tree.listings.doorTtlMs(listing) }
      : found(node)
  })
}

/** Throws ENOENT for a folder that was removed, perhaps while the call waited: it has no names, and none can be made in it. */
export function checkStands(folder: Node): void {
  if (folder.isUnlinked) throw new ErrnoError('ENOENT', `${folder.path} is gone`)
}

/** False if the node was removed or renamed while the call waited. */
export function isStill(node: Node, above: Node, name: string): boolean {
  return !node.isUnlinked && node.parent === above && node.name === name
}

/** Throws ENOENT if the node was removed or renamed while the call waited. */
export function checkIsStill(node: Node, above: Node, name: string): void {
  if (!isStill(node, above, name)) throw new ErrnoError('ENOENT', `${above.path}: no ${name} here`)
}

/**
 * Throws ESTALE for a document that lost its name after it was looked up and is not open, if it is to be written (nobody would see
 * that), or has no content any more (it would be read as empty). The kernel then looks the name up again. A version that the service
 * still has may be read: libfuse 2 uses a name until its cache lifetime is over.
 */
export function checkHasContent(node: Node, isToBeWritten: boolean): void {
  if (!node.isUnlinked || node.folder !== undefined || node.door.openHandles > 0) return
  if (isToBeWritten || (node.content === undefined && node.remote === undefined))
    throw new ErrnoError('ESTALE', `${node.path} was replaced or removed meanwhile`)
}

/** The child of this name; throws ENOENT. */
export function childOf(tree: Tree, folder: Node, name: string, listing: Listing): Node {
  checkStands(folder)
  const node = tree.child(folder, name, listing)
  if (node === undefined) throw new ErrnoError('ENOENT', `${folder.path}: no ${name} here`)
  return node
}

export function getattr(
  parts: LookupParts,
  ino: number,
  fh: number | undefined,
  caller: Caller,
): MaybePromise<Entry> {
  const node = parts.tree.nodes.get(ino)
  const { parent } = node
  // The root is always there; a node that is unlinked, open or kept here does not depend on a listing.
  if (parent === undefined || node.isUnlinked) return entryOf(parts, node)
  const told = (): Entry => {
    noteShown(parts.tree, node, caller)
    return entryOf(parts, node)
  }
  if (fh !== undefined || isKept(node)) return parts.sizes.whenKnown(node, caller, told)
  return withListing(parts.tree, parent, caller, () => {
    if (node.isUnlinked && node.door.openHandles === 0)
      throw new ErrnoError('ENOENT', `${node.path} is gone from the service`)
    return parts.sizes.whenKnown(node, caller, told)
  })
}
