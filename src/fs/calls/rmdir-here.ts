// Removing a folder while the service cannot be asked: what is known of it decides here, and the service's folder goes only
// where nothing but empty folders is left in it by then.

import { ErrnoError } from '../../errno-error.ts'
import { stayThoughEmpty } from './folders.ts'
import { withListing } from './lookup.ts'
import type { Node } from '../tree/node.ts'
import type { Caller } from '../operations.ts'
import type { Superblock } from '../superblock.ts'

/** Throws ENOTEMPTY where a name in it is known; ETIMEDOUT where nobody knows what is in it. */
export async function rmdirHere(sb: Superblock, above: Node, node: Node, caller: Caller): Promise<void> {
  const names = await withListing(sb, node, caller, (listing) => sb.tree.names(node, listing))
  if (names.length > 0) throw new ErrnoError('ENOTEMPTY', `${node.path} is not empty`)
  sb.journal.transaction(() => {
    if (node.folder?.isMadeHere === true) sb.journal.removeFolder(node.path)
    if (!node.isScratch) sb.queue.submit({ kind: 'prune', path: node.path })
  })
  sb.tree.displace(node)
  sb.tree.listings.forget(node)
  if (!node.isScratch) sb.tree.bury(above, node.name, undefined)
  stayThoughEmpty(sb, above)
  sb.tree.nodes.dropIfUnused(node)
}
