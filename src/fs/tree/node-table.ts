// All live nodes by `ino`, and how long each stays: while the door holds references, a handle is open, something local is
// true of it, or it has live children. Shared by both drivers, so that lookup counts are kept in one place.

import { Node, type FolderState } from './node.ts'
import { Nodes } from './nodes.ts'
import { rootIno, type NodeKind } from '../operations.ts'

export class NodeTable extends Nodes<Node> {
  readonly root: Node = new Node(rootIno, 'folder', undefined, '')
  /** Never another node's within a mount: the kernel may still hold an old one. */
  #lastIno = rootIno
  /** Told when there is one more. */
  onAdded: () => void = () => {}
  /** Told when a node is dropped. */
  onDropped: (node: Node) => void = () => {}
  /** True for a folder whose listing is still of use. */
  isListed: (folder: Node) => boolean = () => false
  /** True for a folder in which the service has not agreed to a change yet. */
  isOpen: (folder: Node) => boolean = () => false

  constructor() {
    super()
    this.nodes.set(rootIno, this.root)
  }

  /** A new node under its parent; `ino` where it had a number before. */
  add(kind: NodeKind, parent: Node, name: string, ino: number = ++this.#lastIno): Node {
    const node = new Node(ino, kind, parent, name)
    this.nodes.set(node.ino, node)
    parent.folder?.put(name, node)
    this.onAdded()
    return node
  }

  /** Each node that is there now once, those first that were added, or put last, longest ago. */
  *oldestFirst(): Iterable<Node> {
    let left = this.nodes.size
    for (const node of this.nodes.values()) {
      if (left-- === 0) return
      yield node
    }
  }

  putLast(node: Node): void {
    if (this.nodes.get(node.ino) !== node) return
    this.nodes.delete(node.ino)
    this.nodes.set(node.ino, node)
  }

  /** Drops the node when nothing holds it any more, and then its parent likewise. */
  override dropIfUnused(node: Node): void {
    for (
      let current: Node | undefined = node;
      current !== undefined && !this.#isHeld(current);
      current = current.parent
    ) {
      // A caller that kept the node for a while may hold one that was dropped: its number is another node's by now.
      if (this.nodes.get(current.ino) !== current) return
      this.nodes.delete(current.ino)
      const siblings: FolderState | undefined = current.parent?.folder
      if (siblings?.children.get(current.name) === current) siblings.put(current.name, undefined)
      this.onDropped(current)
    }
  }

  #isHeld(node: Node): boolean {
    if (node.ino === rootIno || node.door.isHolding) return true
    if (!node.isUnlinked && isKept(node)) return true
    if (node.folder === undefined) return false
    return node.folder.children.size > 0 || (!node.isUnlinked && (this.isListed(node) || this.isOpen(node)))
  }
}

/** True for a node that exists whatever its parent's listing says. */
export function isKept(node: Node): boolean {
  const parent = node.parent?.folder
  return parent !== undefined && parent.kept.has(node.name) && parent.children.get(node.name) === node
}
