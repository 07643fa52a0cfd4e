// Taking names away. The name is gone at once; the service hears of it after a moment's grace, in which an editor's
// "delete, then rename the new one here" becomes one replace.

import { ErrnoError } from '../../errno-error.ts'
import { discardContent } from '../unsent/content.ts'
import { stayThoughEmpty } from './folders.ts'
import { childOf, withListing } from './lookup.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import type { Superblock } from '../superblock.ts'

/** Long enough for any program's next system call, short enough that nobody waits for it. */
export const graceMs = 1_000

export function unlink(sb: Superblock, parent: number, name: string, caller: Caller): MaybePromise<void> {
  const folder = sb.tree.nodes.getFolder(parent)
  return withListing(sb, folder, caller, (listing) => {
    const node = childOf(sb, folder, name, listing)
    if (node.folder !== undefined) throw new ErrnoError('EISDIR', `${node.path} is a folder`)
    sb.journal.transaction(() => {
      removeDocument(sb, folder, node, graceMs)
      stayThoughEmpty(sb, folder)
    })
  })
}

/** Takes a document's name away and journals what the service has to hear, after a rest. */
export function removeDocument(sb: Superblock, folder: Node, node: Node, restMs: number): void {
  const { path, name, storedPath } = node
  sb.tree.displace(node)
  if (node.isScratch) {
    sb.journal.removeScratch(path)
  } else {
    const mayBeStored = node.remote !== undefined || node.job !== undefined || node.unsent.base !== undefined
    if (mayBeStored) deleteStored(sb, folder, { path, name, node, restMs })
    sb.attributes.forget(path)
  }
  if (node.door.openHandles > 0 && storedPath !== undefined && node.content === undefined)
    sb.tree.versions.refer(node, storedPath)
  discardContent(sb, node)
  sb.journal.afterCommit(() => sb.tree.nodes.dropIfUnused(node))
}

function deleteStored(
  sb: Superblock,
  folder: Node,
  { path, name, node, restMs }: { path: string; name: string; node: Node; restMs: number },
): void {
  const fingerprint = node.unsent.base ?? node.stored.fingerprint
  sb.tree.bury(folder, name, fingerprint)
  const job = sb.queue.submit({ kind: 'delete', path, base: fingerprint, restMs })
  // Never sent: there is nothing to hide.
  if (job?.intention.path !== path) sb.tree.unhide(folder, name)
}
