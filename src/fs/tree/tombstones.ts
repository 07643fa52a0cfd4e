// Names that are hidden although a listing may still show them: deleted or moved away here. A tombstone lasts until the service
// agreed, and one cache lifetime more.

import type { Undo } from '../../content/spool/undo.ts'
import type { Notifier } from '../operations.ts'
import type { Listings } from './listings.ts'
import type { FolderState, Node } from './node.ts'
import type { Tombstone } from './parts/folder.ts'

export interface TombstonesOptions {
  readonly listings: Listings
  readonly ttlMs: number
  readonly now: () => number
  notifier(): Notifier
  /** Takes what undoes a change, should the journal's transaction under way fail. */
  follow(undo: Undo): void
  /** The folder shows another list of names now. */
  namesChanged(folder: Node | undefined): void
}

export class Tombstones {
  readonly #options: TombstonesOptions

  constructor(options: TombstonesOptions) {
    this.#options = options
  }

  /** Hides a name until the service agrees. */
  bury(folder: Node, name: string, fingerprint: string | undefined): void {
    if (folder.folder !== undefined)
      this.#set(folder.folder, name, { fingerprint, settledAt: undefined, until: undefined })
  }

  /** A version arrived after its name was taken away: it is the one that goes. */
  arrived(folder: Node, name: string, fingerprint: string): void {
    const tombstone = folder.folder?.tombstones.get(name)
    if (folder.folder === undefined || tombstone === undefined || tombstone.settledAt !== undefined) return
    this.#set(folder.folder, name, { ...tombstone, fingerprint })
  }

  /** The document that was shown is gone: hides the name, and tells the door. */
  vanish(folder: Node, name: string, fingerprint: string | undefined): void {
    this.bury(folder, name, fingerprint)
    folder.folder?.change()
    this.#options.notifier().entryChanged(folder.ino, name)
    this.#options.notifier().contentChanged(folder.ino)
  }

  /** The name may show again, as the service has it. */
  unbury(folder: Node, name: string): void {
    if (folder.folder?.tombstones.has(name) !== true) return
    this.unhide(folder, name)
    this.#options.listings.forget(folder)
    this.#options.namesChanged(folder)
    this.#options.notifier().entryChanged(folder.ino, name)
    this.#options.notifier().contentChanged(folder.ino)
  }

  /** The service agreed that the name is gone: this version of it, where that is known. */
  settle(folder: Node, name: string, fingerprint: string | undefined): void {
    const tombstone = folder.folder?.tombstones.get(name)
    if (folder.folder === undefined || tombstone === undefined) return
    const settledAt = this.#options.now()
    const until = settledAt + this.#options.ttlMs
    this.#set(folder.folder, name, { fingerprint: fingerprint ?? tombstone.fingerprint, settledAt, until })
  }

  /** Whatever a listing says of the name that is asked for from now on is believed. */
  leaveToListings(folder: Node, name: string): void {
    const tombstone = folder.folder?.tombstones.get(name)
    if (folder.folder === undefined || tombstone === undefined) return
    const settledAt = this.#options.now()
    this.#set(folder.folder, name, { ...tombstone, settledAt, until: settledAt })
  }

  /** The name is hidden no more: a node here stands there, or the listing's record shows again. */
  unhide(folder: Node | undefined, name: string): void {
    if (folder?.folder?.tombstones.has(name) === true) this.#set(folder.folder, name, undefined)
  }

  #set(folder: FolderState, name: string, tombstone: Tombstone | undefined): void {
    this.#options.follow(folder.hide(name, tombstone))
  }
}
