// Nodes that nobody holds any more: their numbers, for who kept one (a file handle, as NFS servers and backup programs have
// them) and for the same document when it is looked at again. Dropped and unlinked are two things: what is gone is not here.

import { LRUCache } from 'lru-cache'
import type { Node } from './node.ts'

/** About 200 bytes each. */
const mostNodes = 50_000

export class FormerNodes {
  readonly #paths: LRUCache<number, string>
  readonly #inos = new Map<string, number>()

  constructor(limit: number = mostNodes) {
    this.#paths = new LRUCache({
      // Not `max`: lru-cache makes room for that many at once.
      maxSize: limit,
      sizeCalculation: () => 1,
      dispose: (path, ino) => {
        if (this.#inos.get(path) === ino) this.#inos.delete(path)
      },
    })
  }

  /** The node is dropped. */
  left(node: Node): void {
    if (node.isUnlinked || node.parent === undefined) return
    const key = keyOf(node)
    const before = this.#inos.get(key)
    if (before !== undefined) this.#paths.delete(before)
    this.#inos.set(key, node.ino)
    this.#paths.set(node.ino, key)
  }

  /** The number of what was last known at the node's place, which is its own from now on. */
  take(place: Pick<Node, 'kind' | 'path'>): number | undefined {
    const ino = this.#inos.get(keyOf(place))
    if (ino !== undefined) this.#paths.delete(ino)
    return ino
  }

  /** Where a node was when it was dropped. */
  pathOf(ino: number): string | undefined {
    return this.#paths.get(ino)?.slice(1)
  }
}

function keyOf({ kind, path }: Pick<Node, 'kind' | 'path'>): string {
  return (kind === 'file' ? '-' : 'd') + path
}
