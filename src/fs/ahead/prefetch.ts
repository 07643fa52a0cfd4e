// Prefetches the documents that a program which reads a folder in order (`grep -r`, `cp -r`, a thumbnailer) will ask for next:
// small ones whole, and of larger ones as much as the program reads of each.

import { prefetchedBytes } from '../../content/read/block-reading.ts'
import type { Reading } from '../../content/read/reader.ts'
import { successors } from './in-order.ts'
import type { Node } from '../tree/node.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import type { Tree } from '../tree/tree.ts'

/** Limits of what is fetched ahead of the program: number of documents, and bytes. */
const aheadDocuments = 24
const aheadBytes = 8 * 1024 * 1024

export interface PrefetchOptions {
  readonly tree: Tree
  readonly remote: RemoteContent
}

export class Prefetch {
  readonly #options: PrefetchOptions
  /** By folder: how far a program has read its documents in order. */
  readonly #walks = new WeakMap<Node, Walk>()

  constructor(options: PrefetchOptions) {
    this.#options = options
  }

  /** Called when a program begins to read this document; reads served by the kernel's page cache do not come here. */
  beganToRead(node: Node, reading: Reading): void {
    const { parent, name } = node
    if (parent === undefined) return
    const walk = this.#walks.get(parent)
    this.#walks.set(parent, { last: name, reading, fetched: this.#fetchAfter(parent, name, walk) })
  }

  /** Fetches what follows `current`. Returns the name fetched last; undefined for a program that reads in no order. */
  #fetchAfter(parent: Node, current: string, walk: Walk | undefined): string | undefined {
    const { tree, remote } = this.#options
    const listing = tree.listings.fresh(parent)
    if (listing === undefined) return undefined
    const names = successors(listing, 'file', { previous: walk?.last, current, count: aheadDocuments })
    let fetched = names.findIndex((name) => name === walk?.fetched)
    const furthest = walk?.reading.furthest ?? Number.POSITIVE_INFINITY
    let bytes = 0
    for (const [at, next] of names.entries()) {
      const sibling = tree.child(parent, next, listing)
      if (sibling?.version?.size === undefined || sibling.content !== undefined) continue
      const wanted = prefetchedBytes(sibling.version.size, furthest)
      // Documents fetched ahead before count, too: the limit is for all bytes ahead of the program.
      bytes += wanted
      if (bytes > aheadBytes) break
      if (at <= fetched) continue
      remote.prefetch(sibling, wanted)
      fetched = at
    }
    return names[fetched]
  }
}

interface Walk {
  /** Name of the document that was read last. */
  readonly last: string
  /** Its reads: `furthest` tells how far that document was read (bytes), and so how much of the next ones is fetched. */
  readonly reading: Reading
  /** Name of the last document that was fetched ahead, if any. */
  readonly fetched: string | undefined
}
