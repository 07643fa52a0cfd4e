// A document without a name: unlinked, renamed over, or moved away after a restart.

import type { Node } from './node.ts'
import type { Tree } from './tree.ts'

/** The node has no name any more; its handles keep their content. */
export function displace(tree: Tree, folder: Node, node: Node): void {
  node.isUnlinked = true
  tree.detach(node)
  if (folder.folder !== undefined) folder.folder.generation++
}
