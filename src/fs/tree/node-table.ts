// All live nodes by `ino`, and how long each stays: while the door holds references, a handle is open, something local is
// true of it, or it has live children. Shared by both drivers, so that lookup counts are kept in one place.

import { ErrnoError } from '../../errno-error.ts'
import { Node, type FolderState } from './node.ts'
import { rootIno, type NodeKind } from '../operations.ts'

export class NodeTable {
  readonly root: Node = new Node(rootIno, 'folder', undefined, '')
  readonly #nodes = new Map<number, Node>([[rootIno, this.root]])
  /** Never another node's within a mount: the kernel may still hold an old one. */
  #lastIno = rootIno
  /** Told when a node is dropped. */
  onDropped: (node: Node) => void = () => {}
  /** True for a folder whose listing is still of use. */
  isListed: (folder: Node) => boolean = () => false

  get count(): number {
    return this.#nodes.size
  }

  /** Throws ESTALE for a node that is gone. */
  get(ino: number): Node {
    const node = this.#nodes.get(ino)
    if (node === undefined) throw new ErrnoError('ESTALE', `node ${ino} is gone`)
    return node
  }

  /** A folder's state; throws ENOTDIR. */
  getFolder(ino: number): Node {
    const node = this.get(ino)
    if (node.folder === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is no folder`)
    return node
  }

  find(ino: number): Node | undefined {
    return this.#nodes.get(ino)
  }

  /** A new node under its parent; `ino` where it had a number before. */
  add(kind: NodeKind, parent: Node, name: string, ino: number = ++this.#lastIno): Node {
    const node = new Node(ino, kind, parent, name)
    this.#nodes.set(node.ino, node)
    parent.folder?.children.set(name, node)
    return node
  }

  remember(ino: number): void {
    const node = this.#nodes.get(ino)
    if (node !== undefined) node.lookups++
  }

  /** Takes references away; unknown nodes are ignored. */
  forget(ino: number, count: number): void {
    const node = this.#nodes.get(ino)
    if (node === undefined) return
    node.lookups = Math.max(0, node.lookups - count)
    this.dropIfUnused(node)
  }

  /** Drops the node when nothing holds it any more, and then its parent likewise. */
  dropIfUnused(node: Node): void {
    for (
      let current: Node | undefined = node;
      current !== undefined && !this.#isHeld(current);
      current = current.parent
    ) {
      if (!this.#nodes.delete(current.ino)) return
      const siblings: Map<string, Node> | undefined = current.parent?.folder?.children
      if (siblings?.get(current.name) === current) siblings.delete(current.name)
      this.onDropped(current)
    }
  }

  #isHeld(node: Node): boolean {
    if (node.ino === rootIno || node.lookups > 0 || node.openHandles > 0) return true
    if (!node.isUnlinked && isKept(node)) return true
    if (node.folder === undefined) return false
    return (
      node.folder.children.size > 0 ||
      hidesSomething(node.folder) ||
      (!node.isUnlinked && this.isListed(node))
    )
  }

  *all(): Iterable<Node> {
    yield* this.#nodes.values()
  }
}

/** True for a node that exists whatever its parent's listing says. */
export function isKept(node: Node): boolean {
  const parent = node.parent?.folder
  return parent !== undefined && parent.kept.has(node.name) && parent.children.get(node.name) === node
}

/** A delete under way must not be forgotten with the folder it hides the name in. */
function hidesSomething(folder: FolderState): boolean {
  for (const tombstone of folder.tombstones.values()) if (tombstone.settledAt === undefined) return true
  return false
}
