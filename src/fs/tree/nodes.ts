// Nodes by number, with the references that a door holds on each. The subclasses, `NodeTable` and
// `VirtualNodes` (of tables), decide when a node is unused.

import { UndoableMap } from '../../content/spool/undo.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { NodeKind } from '../operations.ts'
import type { DoorPart } from './parts/door.ts'

export interface Numbered {
  readonly ino: number
  readonly kind: NodeKind
  readonly name: string
  readonly door: DoorPart
}

export abstract class Nodes<N extends Numbered> {
  protected readonly nodes: Map<number, N> = new UndoableMap<number, N>()

  get count(): number {
    return this.nodes.size
  }

  find(ino: number): N | undefined {
    return this.nodes.get(ino)
  }

  /** Throws ESTALE for a node that is gone. */
  get(ino: number): N {
    const node = this.nodes.get(ino)
    if (node === undefined) throw new ErrnoError('ESTALE', `node ${ino} is gone`)
    return node
  }

  /** Throws ENOTDIR. */
  getFolder(ino: number): N {
    const node = this.get(ino)
    if (node.kind !== 'folder') throw new ErrnoError('ENOTDIR', `${node.name} is no folder`)
    return node
  }

  all(): Iterable<N> {
    return this.nodes.values()
  }

  /** Adds one reference; unknown nodes are ignored. */
  remember(ino: number): void {
    const node = this.nodes.get(ino)
    if (node !== undefined) node.door.remember()
  }

  /** Removes references; unknown nodes are ignored. */
  forget(ino: number, count: number): void {
    const node = this.nodes.get(ino)
    if (node === undefined) return
    node.door.forget(count)
    this.dropIfUnused(node)
  }

  /** Removes the node from the table if nothing needs it any more. */
  abstract dropIfUnused(node: N): void
}
