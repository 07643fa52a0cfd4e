// Taking names away. The name is gone at once; the service hears of it after a moment's grace, in which an editor's
// "delete, then rename the new one here" becomes one replace.

import { ErrnoError } from '../../errno-error.ts'
import { discardContent, type DiscardParts } from '../unsent/content.ts'
import { stayThoughEmpty, type FolderParts } from './folders.ts'
import { childOf, withListing } from './lookup.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'

/** Long enough for any program's next system call, short enough that nobody waits for it. */
export const graceMs = 1_000

export interface UnlinkParts extends FolderParts, DiscardParts {
  readonly queue: CommitQueue
  readonly attributes: AttributeStore
}

export function unlink(parts: UnlinkParts, parent: number, name: string, caller: Caller): MaybePromise<void> {
  const folder = parts.tree.nodes.getFolder(parent)
  return withListing(parts.tree, folder, caller, (listing) => {
    const node = childOf(parts.tree, folder, name, listing)
    if (node.folder !== undefined) throw new ErrnoError('EISDIR', `${node.path} is a folder`)
    parts.journal.transaction(() => {
      removeDocument(parts, folder, node, graceMs)
      stayThoughEmpty(parts, folder)
    })
  })
}

/** Takes a document's name away and journals what the service has to hear, after a rest. */
function removeDocument(parts: UnlinkParts, folder: Node, node: Node, restMs: number): void {
  const { path, name, storedPath } = node
  parts.tree.places.displace(node)
  if (node.isScratch) {
    parts.journal.removeScratch(path)
  } else {
    const mayBeStored = node.remote !== undefined || node.job !== undefined || node.unsent.base !== undefined
    if (mayBeStored) deleteStored(parts, folder, { path, name, node, restMs })
    parts.attributes.forget(path)
  }
  if (node.door.openHandles > 0 && storedPath !== undefined && node.content === undefined)
    parts.tree.versions.refer(node, storedPath)
  discardContent(parts, node)
  parts.journal.afterCommit(() => parts.tree.nodes.dropIfUnused(node))
}

function deleteStored(
  parts: UnlinkParts,
  folder: Node,
  { path, name, node, restMs }: { path: string; name: string; node: Node; restMs: number },
): void {
  const fingerprint = node.unsent.base ?? node.stored.fingerprint
  parts.tree.tombstones.bury(folder, name, fingerprint)
  const job = parts.queue.submit({ kind: 'delete', path, base: fingerprint, restMs })
  // Never sent: there is nothing to hide.
  if (job?.intention.path !== path && !parts.queue.isToBeEmptied(path))
    parts.tree.tombstones.unhide(folder, name)
}
