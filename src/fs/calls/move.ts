// The move of a node to another name: from where to where, and what that does to names here.

import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Node } from '../tree/node.ts'
import { discardContent, type DiscardParts } from '../unsent/content.ts'
import type { FolderParts } from './folders.ts'

export interface TakeParts extends FolderParts, DiscardParts {
  readonly attributes: AttributeStore
}

/** Where a node goes. */
export interface Move {
  readonly node: Node
  readonly from: Node
  readonly to: Node
  readonly name: string
  /** The node that has that name now. */
  readonly target: Node | undefined
}

/** True where the one is the other, or somewhere in it. */
export function isWithin(folder: Node, other: Node): boolean {
  for (let above: Node | undefined = folder; above !== undefined; above = above.parent)
    if (above === other) return true
  return false
}

/** The node takes the new name; what had it goes, its open handles keep their content. */
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
