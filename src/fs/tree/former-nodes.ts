// Numbers of nodes that were dropped from memory: for a program that kept one (a file handle, as NFS servers and backup
// programs have them), and for the same document when it is looked up again. Unlinked nodes are not remembered.

import type { NodeKind } from '../operations.ts'
import { pathIn, type Node } from './node.ts'

/** Most nodes that are remembered; about 200 bytes each. */
const mostNodes = 50_000

export class FormerNodes {
  readonly #limit: number
  /** Kind and path by number; the nodes dropped longest ago come first. */
  readonly #keys = new Map<number, string>()
  readonly #inos = new Map<string, number>()

  constructor(limit: number = mostNodes) {
    this.#limit = limit
  }

  /** The node is being dropped. */
  left({ ino, kind, parent, name, isUnlinked }: Node): void {
    if (isUnlinked || parent === undefined) return
    const key = keyOf(kind, pathIn(parent, name))
    this.#forget(this.#inos.get(key))
    this.#keys.set(ino, key)
    this.#inos.set(key, ino)
    if (this.#keys.size > this.#limit) this.#forget(this.#keys.keys().next().value)
  }

  /** Returns the number of the node that was last known at this path, and forgets it here: the new node takes it over. */
  take(kind: NodeKind, folder: Node, name: string): number | undefined {
    if (this.#inos.size === 0) return undefined
    const ino = this.#inos.get(keyOf(kind, pathIn(folder, name)))
    this.#forget(ino)
    return ino
  }

  /** Returns the path that a node had when it was dropped. */
  pathOf(ino: number): string | undefined {
    return this.#keys.get(ino)?.slice(1)
  }

  #forget(ino: number | undefined): void {
    const key = ino === undefined ? undefined : this.#keys.get(ino)
    if (ino === undefined || key === undefined) return
    this.#keys.delete(ino)
    this.#inos.delete(key)
  }
}

function keyOf(kind: NodeKind, path: string): string {
  return (kind === 'file' ? '-' : 'd') + path
}
