// Lists folders before a tree walk asks for them: the second sibling opened in order starts it. Bounded, and behind
// everything somebody waits for. `ls -R` over a slow network then costs a few round trips in a row, not one per folder.

import PQueue from 'p-queue'
import { successors } from './in-order.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'

/** How far ahead of the walker. */
const aheadFolders = 32
const concurrency = 12
/** Folders waiting to be listed ahead: a walker that turned away is not followed for long. */
const mostQueued = 128

export class WalkAhead {
  readonly #tree: Tree
  readonly #queue = new PQueue({ concurrency })
  /** The child folder that was opened last, by parent. */
  readonly #lastOpened = new WeakMap<Node, string>()
  readonly #pending = new Set<Node>()

  constructor(tree: Tree) {
    this.#tree = tree
  }

  /** A program opened this folder. */
  opened(folder: Node): void {
    const { parent, name } = folder
    if (parent === undefined) return
    const previous = this.#lastOpened.get(parent)
    this.#lastOpened.set(parent, name)
    const listing = this.#tree.listings.fresh(parent)
    if (listing === undefined) return
    for (const next of successors(listing, 'folder', { previous, current: name, count: aheadFolders })) {
      const child = this.#tree.child(parent, next, listing)
      if (child !== undefined) this.#listAhead(child, true)
    }
  }

  #listAhead(folder: Node, withChildren: boolean): void {
    if (this.#pending.has(folder) || this.#pending.size >= mostQueued) return
    if (this.#tree.listings.fresh(folder) !== undefined) return
    this.#pending.add(folder)
    void this.#queue
      .add(async () => {
        const listing = await this.#tree.listing(folder)
        if (!withChildren) return
        // The walker goes down into each folder before it takes the next.
        for (const name of listing.names.namesOf('folder')) {
          const child = this.#tree.child(folder, name, listing)
          if (child !== undefined) this.#listAhead(child, false)
        }
      })
      // A program that really opens the folder is told what is wrong with it.
      .catch(() => {})
      .finally(() => this.#pending.delete(folder))
  }
}
