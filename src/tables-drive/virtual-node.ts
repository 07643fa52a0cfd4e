// One file or folder that exists in no service, and the table of all of them. Knows nothing of what they mean.

import { timeOfMs } from '../fs/tree/attributes.ts'
import { Nodes } from '../fs/tree/nodes.ts'
import { DoorPart } from '../fs/tree/parts/door.ts'
import type { Attributes, Entry, MaybePromise, NodeKind, Time } from '../fs/operations.ts'
import type { Content } from './content.ts'
import type { DropTarget, RowsIn } from './drop-target.ts'

/** Outcome of a file's content when it was last given to a folder. */
export interface Taken {
  readonly folder: VirtualNode
  readonly name: string
  /** Of the content. */
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
  readonly door: DoorPart = new DoorPart()

  /** Of a folder. */
  readonly children: Map<string, VirtualNode> = new Map()
  /** Makes the children true before they are looked at. */
  refreshChildren: ((signal: AbortSignal) => MaybePromise<void>) | undefined
  /** Of a folder that takes files: what it does with them. */
  target: DropTarget | undefined

  /** Of a file. Generated content is replaced as a whole, so that whoever has it open reads on. */
  content: Content | undefined
  /** Makes generated content true before it is looked at. */
  refreshContent: ((signal: AbortSignal) => MaybePromise<void>) | undefined
  taken: Taken | undefined
  rowsIn: RowsIn | undefined
  /** Ends when the table has answered. */
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
  /** Told of every node that leaves the tree. */
  onDetached: (node: VirtualNode) => void = () => {}
  #lastIno: number

  /** Node ids are `firstIno` and up, never reused. */
  constructor(firstIno: number, owner: Owner) {
    super()
    this.#lastIno = firstIno - 1
    this.owner = owner
  }

  /** Attached to its parent, in place of what had its name. */
  add(node: NewNode): VirtualNode {
    const made = new VirtualNode(++this.#lastIno, node)
    this.nodes.set(made.ino, made)
    this.attach(made, node.parent, node.name)
    return made
  }

  /** Gives a node its place; what stood there is detached. */
  attach(node: VirtualNode, parent: VirtualNode | undefined, name: string): void {
    const replaced = parent?.children.get(name)
    if (replaced === node) return
    if (replaced !== undefined) this.detach(replaced)
    if (node.isAttached) node.parent?.children.delete(node.name)
    node.parent = parent
    node.name = name
    parent?.children.set(name, node)
  }

  /** Takes a node, and everything below it, out of the tree; it lives on while a program holds it. */
  detach(node: VirtualNode): void {
    for (const child of node.children.values()) this.detach(child)
    if (node.isAttached) node.parent?.children.delete(node.name)
    this.onDetached(node)
    this.dropIfUnused(node)
  }

  override dropIfUnused(node: VirtualNode): void {
    if (!node.isAttached && !node.door.isHolding) this.nodes.delete(node.ino)
  }

  /** Times to live are 0: asking again costs no call to the service. */
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
