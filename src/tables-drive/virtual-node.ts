// Files and folders that exist only in the drive, and the table of all of them.

import { timeOfMs } from '../fs/tree/attributes.ts'
import { Nodes } from '../fs/tree/nodes.ts'
import { DoorPart } from '../fs/tree/parts/door.ts'
import type { Attributes, Entry, MaybePromise, NodeKind, Time } from '../fs/operations.ts'
import type { Content } from './content.ts'
import type { DropTarget, RowsIn } from './drop-target.ts'

/** The last time that a target processed the file: in which folder, under which name, and with which content. */
export interface Taken {
  readonly folder: VirtualNode
  readonly name: string
  /** Version of the content. */
  readonly version: number
  readonly failure: Error | undefined
}

export interface NewNode {
  readonly kind: NodeKind
  readonly name: string
  readonly parent: VirtualNode | undefined
  readonly mode: number
  readonly mtimeMs: number
}

export class VirtualNode {
  readonly ino: number
  readonly kind: NodeKind
  name: string
  parent: VirtualNode | undefined
  mode: number
  mtime: Time
  atime: Time
  ctime: Time
  /** References and handles that the kernel holds. */
  readonly door: DoorPart = new DoorPart()

  /** For a folder: the nodes in it, by name. */
  readonly children: Map<string, VirtualNode> = new Map()
  /** For a generated folder: updates the children before each access. */
  refreshChildren: ((signal: AbortSignal) => MaybePromise<void>) | undefined
  /** For a drop folder: processes the files dropped into it. */
  target: DropTarget | undefined

  /** For a file. Generated content is replaced as a whole, so that open handles still read the old one. */
  content: Content | undefined
  /** For a generated file: updates the content before each access. */
  refreshContent: ((signal: AbortSignal) => MaybePromise<void>) | undefined
  /** For a dropped file: the last time that a target processed it. */
  taken: Taken | undefined
  /** For a dropped file: its first rows that are in the table already. */
  rowsSent: RowsIn | undefined
  /** Pending while a target processes the file. */
  taking: Promise<void> | undefined

  constructor(ino: number, node: NewNode) {
    this.ino = ino
    this.kind = node.kind
    this.name = node.name
    this.parent = node.parent
    this.mode = node.mode
    this.mtime = timeOfMs(node.mtimeMs)
    this.atime = this.mtime
    this.ctime = this.mtime
  }

  /** False once it has left the tree: deleted, or replaced by another node. Open handles can still use it. */
  get isAttached(): boolean {
    return this.parent === undefined || this.parent.children.get(this.name) === this
  }

  touch(ms: number): void {
    this.mtime = timeOfMs(ms)
    this.ctime = this.mtime
  }
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

export class VirtualNodes extends Nodes<VirtualNode> {
  readonly owner: Owner
  /** Called for every node that leaves the tree. */
  onDetached: (node: VirtualNode) => void = () => {}
  #lastIno: number

  /** Node ids are `firstIno` and up, never reused. */
  constructor(firstIno: number, owner: Owner) {
    super()
    this.#lastIno = firstIno - 1
    this.owner = owner
  }

  /** Creates a node, and attaches it to its parent. */
  add(node: NewNode): VirtualNode {
    const made = new VirtualNode(++this.#lastIno, node)
    this.nodes.set(made.ino, made)
    this.attach(made, node.parent, node.name)
    return made
  }

  /** Moves a node to a place in the tree; a node with the same name there is detached. */
  attach(node: VirtualNode, parent: VirtualNode | undefined, name: string): void {
    const replaced = parent?.children.get(name)
    if (replaced === node) return
    if (replaced !== undefined) this.detach(replaced)
    if (node.isAttached) node.parent?.children.delete(node.name)
    node.parent = parent
    node.name = name
    parent?.children.set(name, node)
  }

  /** Removes a node, and everything below it, from the tree; open handles can still use it. */
  detach(node: VirtualNode): void {
    for (const child of node.children.values()) this.detach(child)
    if (node.isAttached) node.parent?.children.delete(node.name)
    this.onDetached(node)
    this.dropIfUnused(node)
  }

  override dropIfUnused(node: VirtualNode): void {
    if (!node.isAttached && !node.door.isHolding) this.nodes.delete(node.ino)
  }

  /** The kernel may not cache entries (TTL 0), because asking again costs no call to the service. */
  entryOf(node: VirtualNode): Entry {
    const { ino, kind, mode, mtime, atime, ctime } = node
    const attributes: Attributes = {
      ino,
      kind,
      size: kind === 'folder' ? 4096 : (node.content?.size ?? 0),
      mode,
      nlink: node.isAttached ? 1 : 0,
      ...this.owner,
      atime,
      mtime,
      ctime,
    }
    return { attributes, entryTtlMs: 0, attributeTtlMs: 0 }
  }
}
