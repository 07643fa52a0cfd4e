// Removing a folder while the service cannot be asked, or sending is paused: the names known here decide, and the service's folder goes only if nothing
// but empty folders is left in it by then. Also the steps that every rmdir ends with.

import { ErrnoError } from '../../errno-error.ts'
import { stayThoughEmpty, type FolderParts } from './folders.ts'
import { checkIsStill, withListing } from './lookup.ts'
import type { Listing } from '../tree/listings.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import type { Caller } from '../operations.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'

export interface RmdirHereParts extends FolderParts {
  readonly queue: CommitQueue
  readonly saved: Pick<SavedListings, 'gone'>
}

/** Throws ENOTEMPTY where a name in it is known; ETIMEDOUT where nobody knows what is in it. */
export async function rmdirOffline(
  parts: RmdirHereParts,
  above: Node,
  node: Node,
  caller: Caller,
): Promise<void> {
  const { name } = node
  await withListing(parts.tree, node, caller, (listing) => {
    checkIsStill(node, above, name)
    checkEmpty(parts.tree, node, listing)
    const { isLocalOnly } = node
    removeFolder(parts, above, node, () => {
      if (isLocalOnly) return
      parts.queue.submit({ kind: 'prune', path: node.path })
      parts.tree.synced.touch(node.path, undefined)
    })
  })
}

/** Throws ENOTEMPTY where a name in it is known. */
export function checkEmpty(tree: Tree, node: Node, listing: Listing): void {
  if (tree.names(node, listing).length > 0) throw notEmpty(node)
}

export function notEmpty(node: Node): ErrnoError {
  return new ErrnoError('ENOTEMPTY', `${node.path} is not empty`)
}

/** The folder goes from the tree, and its name is hidden by `hide`. One step: a power cut takes back all of it, or nothing. */
export function removeFolder(parts: FolderParts, above: Node, node: Node, hide: () => void): void {
  parts.journal.transaction(() => {
    if (node.folder?.isMadeHere === true) parts.journal.folders.remove(node.path)
    parts.tree.places.displace(node)
    hide()
    stayThoughEmpty(parts, above)
  })
  parts.tree.listings.forget(node)
  parts.tree.nodes.dropIfUnused(node)
}
