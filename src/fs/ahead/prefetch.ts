// Fetches small documents before a program that reads one after another (`grep -r`, `cp -r`, a thumbnailer) asks for them.

import { prefetchedBytes } from '../../content/read/block-reading.ts'
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
  /** The document that was opened last, by folder. */
  readonly #lastOpened = new WeakMap<Node, string>()

  constructor(options: PrefetchOptions) {
    this.#options = options
  }

  /** A program opened this document for reading. */
  opened(node: Node): void {
    const { parent, name } = node
    if (parent === undefined) return
    const previous = this.#lastOpened.get(parent)
    this.#lastOpened.set(parent, name)
    const { tree, remote } = this.#options
    const listing = tree.listings.fresh(parent)
    if (listing === undefined) return
    let bytes = 0
    for (const next of successors(listing, 'file', { previous, current: name, count: aheadDocuments })) {
      const sibling = tree.child(parent, next, listing)
      if (sibling?.version?.size === undefined || sibling.content !== undefined) continue
      bytes += prefetchedBytes(sibling.version.size)
      if (bytes > aheadBytes) return
      remote.prefetch(sibling)
    }
  }
}
