// Fetches small documents, and as much of larger ones as is read of each, before a program that takes one after another
// (`grep -r`, `cp -r`, a thumbnailer) asks for them.

import { prefetchedBytes } from '../../content/read/block-reading.ts'
import type { Reading } from '../../content/read/reader.ts'
import { successors } from './in-order.ts'
import type { Node } from '../tree/node.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import type { Tree } from '../tree/tree.ts'

/** How far ahead of the program: at most this many documents, and this many bytes. */
const aheadDocuments = 24
const aheadBytes = 8 * 1024 * 1024

export interface PrefetchOptions {
  readonly tree: Tree
  readonly remote: RemoteContent
}

export class Prefetch {
  readonly #options: PrefetchOptions
  /** How far somebody came who reads the documents of a folder. */
  readonly #walks = new WeakMap<Node, Walk>()

  constructor(options: PrefetchOptions) {
    this.#options = options
  }

  /** A program began to read this document, and gets its bytes from us: what the kernel has the pages of is not told. */
  beganToRead(node: Node, reading: Reading): void {
    const { parent, name } = node
    if (parent === undefined) return
    const walk = this.#walks.get(parent)
    this.#walks.set(parent, { last: name, reading, fetched: this.#fetchAfter(parent, name, walk) })
  }

  /** Answers the last that was fetched, undefined for a program that takes no names in order. */
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
  /** The document that was read last. */
  readonly last: string
  /** How it was read. */
  readonly reading: Reading
  /** The last that was fetched ahead, if any. */
  readonly fetched: string | undefined
}
