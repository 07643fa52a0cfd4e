// A document renamed away and back over what was saved there meanwhile, whose first rename the service then refused: nothing is
// left to be sent of it.

import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'

/** It never left, as far as the service knows, and may be gone from there: what the next listing says of it is so. */
export function revertRename(tree: Tree, node: Node): void {
  if (node.isUnlinked || node.isLocalOnly) return
  if (node.remote !== undefined) tree.backAtOwnPath(node)
  if (!node.isDirty) tree.places.leaveToListings(node)
}
