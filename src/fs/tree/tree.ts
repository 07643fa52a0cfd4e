// The namespace: what the service lists, overlaid by what is true here. Existence is decided by the parent's listing,
// never by guessing from an error code; a network error is never "not found" and never an empty folder.
//
// A name in a folder is, in this order: a kept node (unsent, local-only, made here, just sent) · a tombstone (deleted or
// moved away here) · what the listing says. A listing can neither hide nor undo a change made here before one cache lifetime
// has passed since the service agreed to it: listings may lag behind (the interface promises no consistency), also behind an
// earlier one. What somebody stored after us is no lag, and shows at once.

import type { Files, RemoteFile, RemoteFolder } from '../../api/types.ts'
import { agrees, fingerprintOf, isNewer } from '../../content/fingerprint.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import type { Log } from '../../log.ts'
import type { Reach } from '../../content/reach/reach.ts'
import { FolderSource } from './folder-source.ts'
import { FolderTimes } from './folder-times.ts'
import { FormerNodes } from './former-nodes.ts'
import { Listings, type Listing } from './listings.ts'
import { pathIn, type FolderState, type Node, type Tombstone } from './node.ts'
import { isKept, NodeTable } from './node-table.ts'
import { Versions } from './versions.ts'
import { silentNotifier, type MaybePromise, type Notifier } from '../operations.ts'
import { folderOf } from '../../path.ts'

export interface TreeOptions {
  readonly files: Files
  readonly reach: Reach
  readonly ttlMs: number
  readonly now: () => number
  /** As people read it (ms): for the times of folders. */
  readonly wall: () => number
  readonly log: Log
  /** The last listing of each folder, for when the service is away. */
  readonly saved: SavedListings
  /** Takes what undoes a change, should the journal's transaction under way fail: memory says what the journal says. */
  follow(undo: () => void): void
  /** The node shows this record now: modes and times set here for this version are put on it. */
  adorn(node: Node): void
  /** A folder made here is in the service now. */
  folderLanded(node: Node): void
}

export class Tree {
  readonly nodes: NodeTable = new NodeTable()
  readonly listings: Listings
  readonly versions: Versions
  notifier: Notifier = silentNotifier
  readonly source: FolderSource
  readonly #options: TreeOptions
  readonly former: FormerNodes = new FormerNodes()
  readonly #times = new FolderTimes()

  constructor(options: TreeOptions) {
    this.#options = options
    this.versions = new Versions(
      (node) => options.adorn(node),
      (undo) => options.follow(undo),
    )
    this.listings = new Listings({
      ttlMs: options.ttlMs,
      now: options.now,
      isAway: () => options.reach.isAway,
      load: (folder, previous) => this.#load(folder, previous),
      evicted: (ino) => this.nodes.forget(ino, 0),
    })
    this.source = new FolderSource({ ...options, loadFresh: (folder) => this.loadFresh(folder) })
    this.nodes.isListed = (folder) => this.listings.known(folder) !== undefined
    this.nodes.onDropped = (node) => {
      this.former.left(node)
      this.versions.dropped(node)
      if (node.folder === undefined) return
      this.listings.forget(node)
      this.#times.left(node)
    }
  }

  /** A listing asked for from now on, whatever is cached. */
  async loadFresh(folder: Node): Promise<Listing> {
    const listing = await this.#load(folder, this.listings.known(folder))
    this.listings.set(folder, listing)
    return listing
  }

  async #load(folder: Node, previous: Listing | undefined): Promise<Listing> {
    const listing = await this.source.listing(folder, previous)
    if (listing === previous) return listing
    this.#install(folder, listing, previous)
    return listing
  }

  /** Until when a listing cannot speak of something changed here: lagging behind, it has one cache lifetime to catch up. */
  #protectedUntil(settledAt: number): number {
    return settledAt + this.#options.ttlMs
  }

  /** The service answers again: the folders that were looked at meanwhile are listed anew, and the door is told what changed. */
  async endStale(): Promise<void> {
    for (const folder of this.listings.takeServedStale()) {
      if (this.#options.reach.isAway) return
      if (folder.isUnlinked || this.listings.fresh(folder) !== undefined) continue
      // Whoever looks there next asks again, and is told what is wrong.
      await this.loadFresh(folder).catch(() => {})
    }
  }

  /** Something was made at this path by ourselves, without a node: its folder is listed anew, if anybody knows it. */
  async look(path: string): Promise<void> {
    const folder = this.find(folderOf(path))
    if (folder?.folder === undefined || this.listings.known(folder) === undefined) return
    // What cannot be asked now shows when the listing is old.
    await this.loadFresh(folder).catch(() => {})
  }

  /** The child of this name, if there is one. */
  child(folder: Node, name: string, listing: Listing): Node | undefined {
    const state = folder.folder
    if (state === undefined) return undefined
    if (state.kept.has(name)) return state.children.get(name)
    if (state.tombstones.has(name)) return undefined
    const record = listing.names.get(name)
    if (record === undefined) return undefined
    const known = state.children.get(name)
    if (known?.kind === record.kind) return known
    const ino = this.former.take({ kind: record.kind, path: pathIn(folder, name) })
    const node = this.nodes.add(record.kind, folder, name, ino)
    if (record.kind === 'file') this.versions.show(node, record, listing.requestedAt)
    else this.#times.recall(node)
    return node
  }

  /** The child that is true here, whatever a listing says. */
  keptChild({ folder }: Node, name: string): Node | undefined {
    return folder?.kept.has(name) === true ? folder.children.get(name) : undefined
  }

  /** Every visible name, in the service's order, then those that are only here. */
  names(folder: Node, listing: Listing): string[] {
    const state = folder.folder
    if (state === undefined) return []
    if (state.tombstones.size === 0 && state.kept.size === 0) return [...listing.names.keys()]
    const names = [...listing.names.keys()].filter(
      (name) => state.kept.has(name) || !state.tombstones.has(name),
    )
    for (const name of state.kept) if (!listing.names.has(name)) names.push(name)
    return names
  }

  /** The folder's listing; waits only where none is fresh. */
  listing(folder: Node): MaybePromise<Listing> {
    return this.listings.get(folder)
  }

  /** The document itself was asked, since its listing does not tell all. */
  completed(node: Node, record: RemoteFile, askedAt: number): void {
    const { remote, stored } = node
    const isMoreOfTheSame =
      remote !== undefined && stored.askedWholeAt === undefined && agrees(remote, record)
    if (!this.versions.complete(node, record, askedAt) || isMoreOfTheSame) return
    node.door.contentChanged()
    this.notifier.contentChanged(node.ino)
  }

  /** The node exists whatever a listing says, and so do the folders above it. */
  keep(node: Node): void {
    for (let current = node; current.parent !== undefined; current = current.parent) {
      const state = current.parent.folder
      if (state === undefined || state.kept.has(current.name)) return
      const { name } = current
      state.kept.add(name)
      state.generation++
      this.#options.follow(() => state.kept.delete(name))
    }
  }

  /** Listings decide again. A folder above that was kept only for this node waits for its own parent's next listing. */
  unkeep(node: Node): void {
    const { parent, name } = node
    const state = parent?.folder
    if (state?.kept.delete(name) === true) this.#options.follow(() => state.kept.add(name))
  }

  /** Takes the node's name away. */
  detach(node: Node): void {
    const state = node.parent?.folder
    if (state === undefined) return
    if (isKept(node)) this.unkeep(node)
    this.#options.follow(node.remembered())
    if (state.children.get(node.name) === node) this.#setChild(state, node.name, undefined)
    this.#namesChanged(node.parent)
  }

  /** Gives the node a place; it is kept there. */
  attach(node: Node, parent: Node, name: string): void {
    this.#options.follow(node.remembered())
    node.parent = parent
    node.name = name
    // What the service agreed to was the old place.
    node.settledAt = undefined
    if (parent.folder !== undefined) this.#setChild(parent.folder, name, node)
    this.unhide(parent, name)
    this.keep(node)
    this.#namesChanged(parent)
  }

  /** The node has no name any more; its handles keep their content. */
  displace(node: Node): void {
    this.detach(node)
    node.isUnlinked = true
  }

  /** Nothing hides the name any more: it was never sent, or stands for something else. */
  unhide({ folder }: Node, name: string): void {
    if (folder !== undefined) this.#setTombstone(folder, name, undefined)
  }

  #setChild({ children }: FolderState, name: string, node: Node | undefined): void {
    put(children, name, node, (undo) => this.#options.follow(undo))
  }

  #setTombstone({ tombstones }: FolderState, name: string, tombstone: Tombstone | undefined): void {
    put(tombstones, name, tombstone, (undo) => this.#options.follow(undo))
  }

  /** What the folder shows is another list now, and its times say so. */
  #namesChanged(folder: Node | undefined): void {
    if (folder?.folder === undefined) return
    folder.folder.generation++
    this.#options.follow(folder.times.remembered())
    this.#times.changed(folder, this.#options.wall())
  }

  /** Hides a name until the service agrees. */
  bury(folder: Node, name: string, fingerprint: string | undefined): void {
    if (folder.folder !== undefined)
      this.#setTombstone(folder.folder, name, { fingerprint, settledAt: undefined })
    const names = this.listings.known(folder)?.names
    if (names !== undefined) put(names, name, undefined, (undo) => this.#options.follow(undo))
  }

  /** A version arrived after its name was taken away: it is the one that goes. */
  arrivedHidden(folder: Node, name: string, fingerprint: string): void {
    const tombstone = folder.folder?.tombstones.get(name)
    if (tombstone === undefined || tombstone.settledAt !== undefined) return
    const before = tombstone.fingerprint
    this.#options.follow(() => (tombstone.fingerprint = before))
    tombstone.fingerprint = fingerprint
  }

  /** What was shown is gone: hides the name, and tells the door. */
  vanish(folder: Node, name: string, fingerprint: string | undefined): void {
    this.bury(folder, name, fingerprint)
    if (folder.folder !== undefined) folder.folder.generation++
    this.notifier.entryChanged(folder.ino, name)
    this.notifier.contentChanged(folder.ino)
  }

  /** The name may show again, as the service has it. */
  unbury(folder: Node, name: string): void {
    if (folder.folder?.tombstones.has(name) !== true) return
    this.unhide(folder, name)
    this.listings.forget(folder)
    this.#namesChanged(folder)
    this.notifier.entryChanged(folder.ino, name)
    this.notifier.contentChanged(folder.ino)
  }

  /** The service agreed that the name is gone: this version of it, where that is known. */
  settleTombstone(folder: Node, name: string, fingerprint: string | undefined): void {
    const tombstone = folder.folder?.tombstones.get(name)
    if (tombstone === undefined) return
    const before = { ...tombstone }
    this.#options.follow(() => Object.assign(tombstone, before))
    tombstone.fingerprint = fingerprint ?? tombstone.fingerprint
    tombstone.settledAt = this.#options.now()
  }

  /** The service has what the node shows; it stays kept for one more cache lifetime. */
  settle(node: Node): void {
    const listed = node.parent === undefined ? undefined : this.listings.known(node.parent)?.names
    if (listed !== undefined && node.remote !== undefined)
      put(listed, node.name, node.remote, (undo) => this.#options.follow(undo))
    this.#options.follow(node.remembered())
    node.settledAt = this.#options.now()
    this.settleFolders(node)
  }

  /** The service has the folders above the node. */
  settleFolders(node: Node): void {
    for (let folder = node.parent; folder !== undefined; folder = folder.parent) this.#settled(folder)
  }

  #settled(folder: Node): void {
    const { settledAt } = folder
    this.#options.follow(() => (folder.settledAt = settledAt))
    folder.settledAt = this.#options.now()
  }

  /** True when nothing is visible in a folder whose listing is known. */
  isEmpty(folder: Node): boolean {
    const state = folder.folder
    if (state === undefined || state.kept.size > 0) return false
    for (const name of this.listings.known(folder)?.names.keys() ?? [])
      if (!state.tombstones.has(name)) return false
    return true
  }

  /** The live node at a path, if there is one. */
  find(path: string): Node | undefined {
    let node: Node | undefined = this.nodes.root
    for (const name of path.split('/')) {
      if (name !== '') node = node?.folder?.children.get(name)
    }
    return node
  }

  /** A single record says that a document is another version now. */
  recordChanged(path: string, record: RemoteFile): void {
    const node = this.find(path)
    if (node === undefined || node.folder !== undefined || node.remote === undefined) return
    const isOurs =
      isKept(node) && (node.settledAt === undefined || !isNewer(record, fingerprintOf(node.remote)))
    if (isOurs) return
    if (node.storedPath !== path || fingerprintOf(node.remote) === fingerprintOf(record)) return
    this.versions.show(node, record, this.#options.now())
    node.door.contentChanged()
    if (node.parent !== undefined) this.listings.forget(node.parent)
    this.notifier.contentChanged(node.ino)
  }

  /** Puts an answer of the service into the tree and tells the door what changed. */
  #install(folder: Node, listing: Listing, previous: Listing | undefined): void {
    const state = folder.folder
    if (state === undefined) return
    // With nothing to compare with, what the door was shown before may be anything.
    let haveNamesChanged = previous === undefined && state.listedGeneration !== -1
    let hasChanged = false
    const isOurs = (name: string): boolean => state.kept.has(name) || state.tombstones.has(name)
    for (const [name, tombstone] of state.tombstones) {
      if (!this.#isOver(tombstone, listing.names.get(name), listing)) continue
      state.tombstones.delete(name)
      if (!listing.names.has(name)) continue
      hasChanged = true
      this.notifier.entryChanged(folder.ino, name)
    }
    for (const child of state.children.values()) {
      if (state.kept.has(child.name) && !this.#isReleased(child, listing)) continue
      if (this.#update(child, listing)) hasChanged = true
    }
    if (previous !== undefined) {
      for (const name of listing.names.keys()) {
        if (previous.names.has(name) || isOurs(name)) continue
        haveNamesChanged = true
        this.notifier.entryChanged(folder.ino, name)
      }
      for (const name of previous.names.keys())
        if (!listing.names.has(name) && !isOurs(name)) haveNamesChanged = true
    }
    if (haveNamesChanged) this.#namesChanged(folder)
    else if (hasChanged) state.generation++
    else return
    this.notifier.contentChanged(folder.ino)
  }

  /** True when the listing may speak of a deleted name again. */
  #isOver(tombstone: Tombstone, record: RemoteFile | RemoteFolder | undefined, listing: Listing): boolean {
    const { fingerprint, settledAt } = tombstone
    if (settledAt === undefined || listing.requestedAt <= settledAt) return false
    if (record?.kind === 'file' && fingerprint !== undefined && isNewer(record, fingerprint)) return true
    return this.#hasTheLastWord(listing, settledAt, record === undefined)
  }

  /** True when the listing may speak of a child that was changed or made here. */
  #isReleased(child: Node, listing: Listing): boolean {
    const record = listing.names.get(child.name)
    const isReleased =
      child.folder === undefined
        ? this.#isFileReleased(child, record, listing)
        : this.#isFolderReleased(child, child.folder, record, listing)
    if (isReleased) {
      child.settledAt = undefined
      this.unkeep(child)
    }
    return isReleased
  }

  #isFileReleased(child: Node, record: RemoteFile | RemoteFolder | undefined, listing: Listing): boolean {
    const { settledAt, remote } = child
    if (settledAt === undefined || remote === undefined || listing.requestedAt <= settledAt) return false
    if (record?.kind === 'file' && isNewer(record, fingerprintOf(remote))) return true
    const isAgreed = record?.kind === 'file' && agrees(record, remote)
    if (isAgreed) this.#update(child, listing)
    return this.#hasTheLastWord(listing, settledAt, isAgreed)
  }

  #isFolderReleased(
    child: Node,
    state: FolderState,
    record: RemoteFile | RemoteFolder | undefined,
    listing: Listing,
  ): boolean {
    const isListed = record?.kind === 'folder'
    if (isListed && state.isMadeHere && state.kept.size === 0) this.#options.folderLanded(child)
    if (state.isMadeHere || state.kept.size > 0) return false
    return this.#hasTheLastWord(listing, child.settledAt ?? -Infinity, isListed)
  }

  /** A listing that says otherwise too early is not believed, and asked again when it may decide. */
  #hasTheLastWord(listing: Listing, settledAt: number, isAgreed: boolean): boolean {
    const until = this.#protectedUntil(settledAt)
    if (listing.requestedAt > until) return true
    if (!isAgreed) listing.until = Math.min(listing.until ?? Infinity, until)
    return false
  }

  /** Brings a node in line with the listing. True when a program could see the difference. */
  #update(child: Node, listing: Listing): boolean {
    const record = listing.names.get(child.name)
    if (record === undefined || record.kind !== child.kind) {
      this.#vanish(child)
      return true
    }
    if (record.kind === 'folder' || child.remote === undefined) return false
    if (record.size === undefined && child.remote.size !== undefined && agrees(record, child.remote)) {
      // It tells less than is known, and nothing else: asked again in its time.
      if (child.stored.askedWholeAt === undefined) child.stored.askedWhole(listing.requestedAt)
      return false
    }
    const isSame = fingerprintOf(record) === fingerprintOf(child.remote)
    if (isSame) {
      child.stored.renew(record, listing.requestedAt)
      return false
    }
    this.versions.show(child, record, listing.requestedAt)
    child.door.contentChanged()
    this.notifier.contentChanged(child.ino)
    return true
  }

  /** Somebody else removed or replaced it. */
  #vanish(child: Node): void {
    const { parent } = child
    if (parent === undefined) return
    this.versions.vanished(child)
    this.displace(child)
    this.notifier.entryChanged(parent.ino, child.name)
    this.nodes.dropIfUnused(child)
  }
}

/** What the name stands for from now on; undefined for nothing. `follow` takes what undoes it. */
function put<T>(
  names: Map<string, T>,
  name: string,
  value: T | undefined,
  follow: (undo: () => void) => void,
): void {
  const before = names.get(name)
  const set = (what: T | undefined): void => {
    if (what === undefined) names.delete(name)
    else names.set(name, what)
  }
  set(value)
  if (before !== value) follow(() => set(before))
}
