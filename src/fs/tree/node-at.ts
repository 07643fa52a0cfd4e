// Finds a node by its path, for commands. The kernel asks name by name.

import type { Node } from './node.ts'
import type { Tree } from './tree.ts'

/** Returns the node at a path, or undefined. Names kept here need no listing; others ask the service, and throw its errors. */
export async function nodeAt(tree: Tree, path: string): Promise<Node | undefined> {
  let node: Node | undefined = tree.nodes.root
  for (const name of path.split('/')) {
    if (name === '') continue
    if (node?.folder === undefined) return undefined
    node = tree.keptChild(node, name) ?? tree.child(node, name, await tree.listing(node))
  }
  return node
}
