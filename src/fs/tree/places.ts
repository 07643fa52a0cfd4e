// Where nodes are: each has one place, and is kept there where it exists whatever a listing says: until the
// service has agreed, and one cache lifetime more.

import type { SyncedPaths } from '../../ledger/synced-paths.ts'
import type { SyncedPath } from '../../ledger/view.ts'
import { pathIn, type Node } from './node.ts'
import { isKept } from './node-table.ts'
import type { Notifier } from '../operations.ts'

export interface PlacesOptions {
  readonly synced: SyncedPaths
  readonly ttlMs: number
  readonly now: () => number
  notifier(): Notifier
  /** Runs `step` when the journal's transaction under way is on disk; at once where there is none. */
  afterCommit(step: () => void): void
  /** The last name kept in the folder went: unless it is to stay for itself, the listing above it decides. */
  emptied(folder: Node): void
  /** No listing of the folder asked for before now is believed any more. */
  askAgain(folder: Node): void
  /** Something passes through this path on its way to elsewhere, or is still to be taken away from there. */
  isToBeEmptied(path: string): boolean
  /** The same, or the service still has a former folder at this path or above, which is to be removed. */
  isToGo(path: string): boolean
  /** The folder shows another list of names now. */
  namesChanged(folder: Node | undefined): void
}

export class Places {
  readonly #options: PlacesOptions

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /** The node exists whatever a listing says, and so do the folders above it. */
  keep(node: Node): void {
    for (let current = node; current.parent !== undefined; current = current.parent) {
      const state = current.parent.folder
      if (state === undefined || state.kept.has(current.name)) return
      const { name } = current
      state.keep(name)
      state.change()
    }
  }

  /** Listings decide again. */
  unkeep(node: Node): void {
    const { parent, name } = node
    const state = parent?.folder
    if (state?.kept.has(name) === true) state.unkeep(name)
  }

  /** Takes the node's name away. */
  detach(node: Node): void {
    const { parent, path } = node
    const state = parent?.folder
    if (parent === undefined || state === undefined) return
    if (isKept(node)) {
      this.unkeep(node)
      // The change may keep another name in it yet.
      if (state.kept.size === 0) this.#options.afterCommit(() => this.#options.emptied(parent))
    }
    if (state.children.get(node.name) === node) state.put(node.name, undefined)
    // The node stood in front of it.
    if (this.#options.isToBeEmptied(path)) this.#options.synced.touch(path, undefined)
    this.#options.namesChanged(parent)
  }

  /** Gives the node a place; it is kept there. */
  attach(node: Node, parent: Node, name: string): void {
    node.moveTo(parent, name)
    parent.folder?.put(name, node)
    this.keep(node)
    this.#options.namesChanged(parent)
  }

  /** The node has no name any more; its handles keep their content. */
  displace(node: Node): void {
    this.detach(node)
    node.unlink()
  }

  /** Something else shows at the name than before. */
  changedAt(folder: Node, name: string): void {
    this.#options.namesChanged(folder)
    this.#options.notifier().entryChanged(folder.ino, name)
    this.#options.notifier().contentChanged(folder.ino)
  }

  /** A folder has this place now: what was taken away there before is hidden in it. */
  came(folder: Node): void {
    const { synced } = this.#options
    for (const [name, { agreedAt }] of synced.in(folder)) {
      const path = pathIn(folder, name)
      // When it was agreed to, or given up, nobody said.
      if (agreedAt === undefined && !this.#options.isToGo(path)) synced.agree(path)
    }
  }

  /** The service has what the node shows; it stays kept for one more cache lifetime. */
  settle(node: Node): void {
    // A change that is still to take something away from there is older than the node.
    this.#options.synced.drop(node.path)
    this.settleSince(node)
    this.settleFolders(node)
  }

  /** The service has had what the node shows since `at` (ms). */
  settleSince(node: Node, at?: number): void {
    const { synced } = this.#options
    const { path, stored } = node
    const row = synced.at(path)
    // A folder may stand in front of what is still to be taken away.
    if (isKept(node) && (row === undefined || row.agreedAt !== undefined))
      synced.stands(path, stored.fingerprint, at)
  }

  /** Since when the service has what the node shows, and how long listings may lag behind that; undefined where it has not. */
  agreed(node: Node): SyncedPath | undefined {
    return node.isAhead || node.isUnlinked ? undefined : this.#options.synced.at(node.path)
  }

  /** Whatever a listing says of the node that is asked for from now on is believed. */
  leaveToListings(node: Node): void {
    this.#options.synced.drop(node.path)
    this.settleSince(node)
    this.#options.synced.leaveToListings(node.path)
    if (node.parent !== undefined) this.#options.askAgain(node.parent)
  }

  /** The service has the folders above the node. */
  settleFolders(node: Node): void {
    for (let folder = node.parent; folder !== undefined; folder = folder.parent) this.settleSince(folder)
  }
}
