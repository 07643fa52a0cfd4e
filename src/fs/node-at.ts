// From a path to its node, for people who ask by path: the kernel asks name by name.

import type { Node } from './tree/node.ts'
import type { Superblock } from './superblock.ts'

/** The node at a path, asking the service where no listing is fresh; undefined where there is none. Throws as listings do. */
export async function nodeAt(sb: Superblock, path: string): Promise<Node | undefined> {
  let node: Node | undefined = sb.tree.nodes.root
  for (const name of path.split('/')) {
    if (name === '') continue
    if (node?.folder === undefined) return undefined
    node = sb.tree.keptChild(node, name) ?? sb.tree.child(node, name, await sb.tree.listing(node))
  }
  return node
}
