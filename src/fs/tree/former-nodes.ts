// Nodes that nobody holds any more: their numbers, for who kept one (a file handle, as NFS servers and backup programs have
// them) and for the same document when it is looked at again. Dropped and unlinked are two things: what is gone is not here.

import type { NodeKind } from '../operations.ts'
import { pathIn, type Node } from './node.ts'

/** About 200 bytes each. */
const mostNodes = 50_000

export class FormerNodes {
  readonly #limit: number
  /** Those that left longest ago come first. */
  readonly #keys = new Map<number, string>()
  readonly #inos = new Map<string, number>()

  constructor(limit: number = mostNodes) {
    this.#limit = limit
  }

  /** The node is dropped. */
  left({ ino, kind, parent, name, isUnlinked }: Node): void {
    if (isUnlinked || parent === undefined) return
    const key = keyOf(kind, pathIn(parent, name))
    this.#forget(this.#inos.get(key))
    this.#keys.set(ino, key)
    this.#inos.set(key, ino)
    if (this.#keys.size > this.#limit) this.#forget(this.#keys.keys().next().value)
  }

  /** The number of what was last known at the place, which is its own from now on. */
  take(kind: NodeKind, folder: Node, name: string): number | undefined {
    if (this.#inos.size === 0) return undefined
    const ino = this.#inos.get(keyOf(kind, pathIn(folder, name)))
    this.#forget(ino)
    return ino
  }

  /** Where a node was when it was dropped. */
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
