// Fetches small documents before a program that reads one after another (`grep -r`, `cp -r`, a thumbnailer) asks for them.

import { prefetchedBytes } from '../../content/read/block-reading.ts'
import type { Reader } from '../../content/read/reader.ts'
import type { PresignedUrls } from '../../content/read/presigned-urls.ts'
import { successors } from './in-order.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'

/** How far ahead of the program: at most this many documents, and this many bytes. */
const aheadDocuments = 24
const aheadBytes = 8 * 1024 * 1024

export interface PrefetchOptions {
  readonly tree: Tree
  readonly reader: Reader
  readonly urls: PresignedUrls
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
    const { tree, reader, urls } = this.#options
    const listing = tree.listings.fresh(parent)
    if (listing === undefined) return
    let bytes = 0
    for (const next of successors(listing, 'file', { previous, current: name, count: aheadDocuments })) {
      const sibling = tree.child(parent, next, listing)
      const version = sibling?.version
      if (version?.size === undefined || sibling?.content !== undefined) continue
      bytes += prefetchedBytes(version.size)
      if (bytes > aheadBytes) return
      if (sibling?.remote !== undefined) urls.remember(version.path, sibling.remote, sibling.stored.askedAt)
      reader.prefetch(version)
    }
  }
}
