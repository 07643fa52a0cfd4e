// The move of a node to another name, and its effects on the names here.

import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Node } from '../tree/node.ts'
import { discardContent, type DiscardParts } from '../unsent/content.ts'
import type { FolderParts } from './folders.ts'

export interface TakeParts extends FolderParts, DiscardParts {
  readonly attributes: AttributeStore
}

/** `node` moves from the folder `from` to the name `name` in the folder `to`. */
export interface Move {
  readonly node: Node
  readonly from: Node
  readonly to: Node
  readonly name: string
  /** The node that has the new name now, if any. */
  readonly target: Node | undefined
}

/** True if `node` is `folder`, or lies somewhere in it. */
export function isWithin(node: Node, folder: Node): boolean {
  for (let above: Node | undefined = node; above !== undefined; above = above.parent)
    if (above === folder) return true
  return false
}

/** Gives the node its new name; the caller journals the move. A node that had the name loses it; its handles keep their content. */
export function take(parts: TakeParts, { node, to, name, target }: Move): void {
  if (target !== undefined) {
    const { storedPath } = target
    parts.tree.places.displace(target)
    if (target.isLocalOnly) parts.journal.localFiles.remove(target.path)
    if (target.door.openHandles > 0 && storedPath !== undefined && target.content === undefined)
      parts.tree.versions.refer(target, storedPath)
    discardContent(parts, target)
    parts.journal.afterCommit(() => parts.tree.nodes.dropIfUnused(target))
  }
  parts.attributes.forget(node.path)
  parts.tree.places.detach(node)
  parts.tree.places.attach(node, to, name)
}
