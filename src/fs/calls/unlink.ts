// unlink(2): removes the name of a document.

import { ErrnoError } from '../../errno-error.ts'
import { discardContent, type DiscardParts } from '../unsent/content.ts'
import { deleteStored, mayBeStored } from './delete-stored.ts'
import { stayThoughEmpty, type FolderParts } from './folders.ts'
import { childOf, withListing } from './lookup.ts'
import { takenAway } from '../tree/begin-save.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import type { Sizes } from './sizes.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'

export interface UnlinkParts extends FolderParts, DiscardParts {
  readonly queue: CommitQueue
  readonly attributes: AttributeStore
  readonly sizes: Sizes
}

/** `asked`: the node whose record was loaded before this second call. */
export function unlink(
  parts: UnlinkParts,
  parent: number,
  name: string,
  caller: Caller,
  asked?: Node,
): MaybePromise<void> {
  const folder = parts.tree.nodes.getFolder(parent)
  return withListing(parts.tree, folder, caller, (listing) => {
    const node = childOf(parts.tree, folder, name, listing)
    if (node.folder !== undefined) throw new ErrnoError('EISDIR', `${node.path} is a folder`)
    if (node !== asked && parts.sizes.isSizeUnknown(node))
      return parts.sizes.loadRecord(node, caller).then(() => unlink(parts, parent, name, caller, node))
    return parts.journal.transaction(() => {
      removeDocument(parts, folder, node, caller)
      stayThoughEmpty(parts, folder)
    })
  })
}

/** Removes a document's name, and journals the delete that the service has to get. */
function removeDocument(parts: UnlinkParts, folder: Node, node: Node, caller: Caller): void {
  const { path, name, storedPath } = node
  const version = takenAway(parts.tree.seen, node, caller)
  parts.tree.places.displace(node)
  if (node.isLocalOnly) {
    parts.journal.localFiles.remove(path)
  } else {
    if (mayBeStored(parts.queue, node)) deleteStored(parts, folder, name, version)
    parts.attributes.forget(path)
  }
  if (node.door.openHandles > 0 && storedPath !== undefined && node.content === undefined)
    parts.tree.versions.refer(node, storedPath)
  discardContent(parts, node)
  parts.journal.afterCommit(() => parts.tree.nodes.dropIfUnused(node))
}
