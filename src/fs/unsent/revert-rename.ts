// The end of a rename that is not sent, because the document is back at its old path: it was renamed back, or the service refused
// the rename.

import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'

/** Makes the node show the version at its own path. Listings decide again: another client may have changed or removed it. */
export function revertRename(tree: Tree, node: Node): void {
  if (node.isUnlinked || node.isLocalOnly) return
  if (node.remote !== undefined) tree.backAtOwnPath(node)
  if (!node.isDirty) tree.places.leaveToListings(node)
}
