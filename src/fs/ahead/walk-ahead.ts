// Lists folders before a tree walk asks for them; the second sibling opened in order starts it. Bounded in number, and behind
// every request that a program waits for. `ls -R` over a slow network then costs a few round trips in a row, not one per
// folder.

import PQueue from 'p-queue'
import { successors } from './in-order.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'

/** Number of sibling folders that are listed ahead of the program. */
const aheadFolders = 32
const concurrency = 12
/** Most folders that wait to be listed ahead, so that a walk that was given up costs little. */
const mostQueued = 128

export class WalkAhead {
  readonly #tree: Tree
  readonly #queue = new PQueue({ concurrency })
  /** The child folder that was opened last, by parent. */
  readonly #lastOpened = new WeakMap<Node, string>()
  /** Folders that are in the queue, or are being listed. */
  readonly #pending = new Set<Node>()

  constructor(tree: Tree) {
    this.#tree = tree
  }

  /** Called when a program has opened this folder. */
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
        // A tree walk visits the children of a folder before its next sibling.
        for (const name of listing.names.namesOf('folder')) {
          const child = this.#tree.child(folder, name, listing)
          if (child !== undefined) this.#listAhead(child, false)
        }
      })
      // The error is reported when a program opens the folder itself.
      .catch(() => {})
      .finally(() => this.#pending.delete(folder))
  }
}
