// From a path to its node, for people who ask by path: the kernel asks name by name.

import type { Node } from './node.ts'
import type { Tree } from './tree.ts'

/** The node at a path, asking the service where no listing is fresh; undefined where there is none. Throws as listings do. */
export async function nodeAt(tree: Tree, path: string): Promise<Node | undefined> {
  let node: Node | undefined = tree.nodes.root
  for (const name of path.split('/')) {
    if (name === '') continue
    if (node?.folder === undefined) return undefined
    node = tree.keptChild(node, name) ?? tree.child(node, name, await tree.listing(node))
  }
  return node
}
