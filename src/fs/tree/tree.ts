// The namespace: what the service lists, overlaid by what is true here. Existence is decided by the parent's listing,
// never by guessing from an error code; a network error is never "not found" and never an empty folder.
//
// A name in a folder is, in this order: a kept node (unsent, local-only, made here, just sent) · a path with a row (deleted or
// moved away here) · what the listing says. A listing can neither hide nor undo a change made here before one cache lifetime
// has passed since the service agreed to it: listings may lag behind (the interface promises no consistency), also behind an
// earlier one. A version that somebody stored after us is no lag, and shows at once.

import type { Files, RemoteFile } from '../../api/types.ts'
import { agrees, fingerprintOf, isNewer } from '../../content/fingerprint.ts'
import type { SavedListings } from '../../content/spool/saved-listings.ts'
import { SyncedPaths } from '../../ledger/synced-paths.ts'
import type { Timers } from '../../world/clock.ts'
import type { Log } from '../../log.ts'
import type { Reach } from '../../content/reach/reach.ts'
import { FolderSource, isRemembered } from './folder-source.ts'
import { FolderTimes } from './folder-times.ts'
import { FormerNodes } from './former-nodes.ts'
import { giveBack } from './give-back.ts'
import { HeldNodes } from './held-nodes.ts'
import type { ListedNames } from './listed-names.ts'
import { ListingMerge } from './listing-merge.ts'
import { Listings, type Listing } from './listings.ts'
import type { MemoryShares } from './memory-shares.ts'
import { pathIn, type FolderState, type Node } from './node.ts'
import { isKept, NodeTable } from './node-table.ts'
import { Places } from './places.ts'
import { Seen } from './seen.ts'
import { Versions } from './versions.ts'
import { idleWatcher, silentNotifier, type MaybePromise, type Notifier, type Watcher } from '../operations.ts'
import { folderOf } from '../../path.ts'

/** In this time the kernel has forgotten what it was asked to. */
const forgetMs = 2_000

export interface TreeOptions {
  readonly files: Files
  readonly reach: Reach
  readonly ttlMs: number
  readonly now: () => number
  readonly timers: Timers
  readonly memory: MemoryShares
  /** As people read it (ms): for the times of folders. */
  readonly wall: () => number
  readonly log: Log
  /** The last listing of each folder, for when the service is away. */
  readonly saved: SavedListings
  /** Runs `step` when the journal's transaction under way is on disk, never where it is rolled back; at once where there is none. */
  afterCommit(step: () => void): void
  /** Something passes through this path on its way to elsewhere, or is still to be taken away from there. */
  isToBeEmptied(path: string): boolean
  /** True where the service still has a former folder at this path or above, which is to be removed. */
  isOfFormerFolder(path: string): boolean
  /** A listing shows another version than the one for which this path is hidden. */
  foundHidden(path: string): void
  /** Another client's version takes the place of what the node shows: content of the older one that is here goes. */
  overtaken(node: Node): void
  /** The node shows this record now: modes and times set here for this version are put on it. */
  applyAttributes(node: Node): void
  /** A folder made here is in the service now. */
  folderCreatedRemotely(node: Node): void
  /** The node was dropped: no call finds it any more. */
  dropped(node: Node): void
}

export class Tree {
  readonly nodes: NodeTable = new NodeTable()
  readonly listings: Listings
  readonly versions: Versions
  readonly places: Places
  readonly synced: SyncedPaths
  readonly seen: Seen
  readonly #merge: ListingMerge
  readonly #held: HeldNodes
  notifier: Notifier = silentNotifier
  watcher: Watcher = idleWatcher
  readonly source: FolderSource
  readonly #options: TreeOptions
  readonly former: FormerNodes = new FormerNodes()
  readonly #times = new FolderTimes()

  constructor(options: TreeOptions) {
    this.#options = options
    this.versions = new Versions((node) => options.applyAttributes(node))
    this.seen = new Seen({
      now: options.now,
      beganAt: options.wall(),
      mostShown: options.memory.shown,
      earlier: (path, isOfAny) => options.saved.earlier(path, { isOfAny }),
    })
    this.listings = new Listings({
      ttlMs: options.ttlMs,
      now: options.now,
      isAway: () => options.reach.isAway,
      isWanted: (ino) => this.watcher.watches(ino) || (this.nodes.find(ino)?.folder?.kept.size ?? 0) > 0,
      load: (folder, previous) => this.#load(folder, previous),
      timers: options.timers,
      mostBytes: options.memory.listingBytes,
      dropped: (ino, listing) => this.#listingDropped(ino, listing),
      quiet: () => void this.#giveBack(),
    })
    this.synced = new SyncedPaths({
      ...options,
      isListed: (path) => {
        const folder = this.find(path)
        return folder !== undefined && this.listings.known(folder) !== undefined
      },
    })
    this.source = new FolderSource({
      ...options,
      synced: this.synced,
      known: (folder) => this.listings.known(folder),
      loadFresh: (folder) => this.loadFresh(folder),
    })
    const { nodes, listings, versions, synced } = this
    const shared = {
      synced,
      now: options.now,
      ttlMs: options.ttlMs,
      notifier: () => this.notifier,
      afterCommit: (step: () => void) => options.afterCommit(step),
      emptied: (folder: Node) => this.#merge.emptied(folder),
      namesChanged: (folder: Node | undefined) => this.#namesChanged(folder),
      folderCreatedRemotely: (folder: Node) => options.folderCreatedRemotely(folder),
      // Listings saved at the path of a folder that is gone are another folder's.
      savedFolders: (folder: Node) => (folder.isUnlinked ? [] : options.saved.foldersIn(folder.path)),
      folderGone: (folder: Node, name: string) => {
        if (!folder.isUnlinked) options.saved.gone(pathIn(folder, name))
      },
      askAgain: (folder: Node) => this.askAgain(folder),
      foundHidden: (path: string) => options.foundHidden(path),
      overtaken: (node: Node) => this.overtaken(node),
    }
    const isToBeEmptied = (path: string): boolean => options.isToBeEmptied(path)
    const isOfFormerFolder = (path: string): boolean => options.isOfFormerFolder(path)
    const isToGo = (path: string): boolean => isToBeEmptied(path) || isOfFormerFolder(path)
    this.places = new Places({ ...shared, isToBeEmptied, isToGo })
    this.#merge = new ListingMerge({
      ...shared,
      listings,
      isOfFormerFolder,
      watcher: () => this.watcher,
      nodes,
      versions,
      places: this.places,
    })
    this.#held = new HeldNodes({ ...shared, nodes, most: options.memory.nodes, timers: options.timers })
    this.nodes.isListed = (folder) => this.listings.known(folder) !== undefined
    this.nodes.isOpen = (folder) => synced.isOpenIn(folder)
    this.nodes.onDropped = (node) => {
      this.former.left(node)
      this.versions.dropped(node)
      options.dropped(node)
      if (node.folder === undefined) return
      this.listings.forget(node)
      this.#times.left(node)
    }
  }

  /** A listing asked for from now on, whatever is cached. */
  loadFresh(folder: Node): Promise<Listing> {
    return this.listings.fetch(folder)
  }

  /**
   * Ends the belief in listings asked for before `at` (ms): the next look asks the service. While that is away the last
   * one still shows.
   */
  askAgain(folder: Node, at: number = this.#options.now()): void {
    folder.folder?.setMinRequestedAt(Math.max(at, folder.folder.minRequestedAt))
    this.listings.expire(folder)
  }

  /** A listing that was asked for later than `at` (ms), or, where the service is away, the last one known. Rejects as `listing`. */
  listedAfter(folder: Node, at: number): MaybePromise<Listing> {
    const known = this.listings.known(folder)
    if (known !== undefined && known.requestedAt > at) return known
    this.askAgain(folder, at)
    return this.listings.get(folder)
  }

  async #load(folder: Node, previous: Listing | undefined): Promise<Listing> {
    const listing = await this.source.listing(folder, previous)
    const known = this.listings.known(folder)
    // The answer took its time: a listing asked for after it is here already.
    if (known !== undefined && known.requestedAt > listing.requestedAt) return known
    if (listing === known || listing === previous) return listing
    const state = folder.folder
    const isTold = state !== undefined && !isRemembered(listing)
    if (isTold) {
      // Another answer came meanwhile. One request may overtake another, so it is not known which is newer: asked once more.
      if (listing.requestedAt < state.minRequestedAt) return this.#load(folder, previous)
      state.setMinRequestedAt(this.#options.now())
    }
    // Another may have come since this one was asked for: the door knows that.
    this.#merge.merge(folder, listing, known ?? previous)
    // Not left to who asked: another answer may come first and take its place, though what it settled here stays settled.
    const wasForgotten = known === undefined && previous !== undefined
    if (!wasForgotten) this.listings.set(folder, listing)
    // Nor is it saved of a folder that is gone by now: one of its name is another.
    if (isTold && !folder.isUnlinked) this.source.save(folder, listing)
    return listing
  }

  /** The service answers again: the folders that were looked at meanwhile are listed anew, and the door is told what changed. */
  async endStale(): Promise<void> {
    for (const folder of this.listings.takeServedStale()) {
      if (this.#options.reach.isAway) return
      if (folder.isUnlinked || this.listings.fresh(folder) !== undefined) continue
      // A folder that cannot be listed says so at the next look, which asks again.
      await this.loadFresh(folder).catch(() => {})
    }
  }

  /** Something was made at this path by ourselves, without a node: its folder is listed anew, if anybody knows it. */
  async look(path: string): Promise<void> {
    const folder = this.find(folderOf(path))
    if (folder?.folder === undefined || this.listings.known(folder) === undefined) return
    // A folder that cannot be listed now shows the change when its listing is old.
    await this.loadFresh(folder).catch(() => {})
  }

  /** A large tree was walked, and nobody looks any more. */
  async #giveBack(): Promise<void> {
    await this.#held.rest()
    // References that the door lets go of come back one after another.
    this.#options.timers.setTimeout(giveBack, forgetMs).unref()
  }

  /** The listing is asked for again when somebody looks. */
  #listingDropped(ino: number, { names }: Listing): void {
    const folder = this.nodes.find(ino)
    if (folder?.folder === undefined) return
    const state = folder.folder
    state.dropListing(names.digestWithout(this.synced.in(folder).keys()))
    if (folder.door.openHandles === 0 && state.hasOrder) {
      // The places told are not known any more: nobody goes on from them.
      state.forgetOrder()
      state.change()
    }
    this.nodes.dropIfUnused(folder)
  }

  /** The child of this name, if there is one. */
  child(folder: Node, name: string, listing: Listing): Node | undefined {
    const state = folder.folder
    if (state === undefined) return undefined
    if (state.kept.has(name)) return state.children.get(name)
    if (this.synced.in(folder).has(name)) return undefined
    const record = listing.names.get(name)
    if (record === undefined) return undefined
    const known = state.children.get(name)
    if (known?.kind === record.kind) return known
    const ino = this.former.take(record.kind, folder, name)
    const node = this.nodes.add(record.kind, folder, name, ino)
    if (record.kind === 'file') this.versions.show(node, record, listing.requestedAt)
    else {
      this.#times.recall(node)
      this.places.came(node)
    }
    return node
  }

  /** The child that is true here, whatever a listing says. */
  keptChild({ folder }: Node, name: string): Node | undefined {
    return folder?.kept.has(name) === true ? folder.children.get(name) : undefined
  }

  /** Every visible name, in the service's order, then those that are only here. */
  names(
    folder: {
      readonly path: string
      readonly isUnlinked?: boolean
      readonly folder?: FolderState | undefined
    },
    { names: listed }: { readonly names: Pick<ListedNames, 'keys' | 'has'> },
  ): string[] {
    const kept = folder.folder?.kept ?? new Set()
    const synced = this.synced.in(folder)
    if (synced.size === 0 && kept.size === 0) return [...listed.keys()]
    const names = [...listed.keys()].filter((name) => kept.has(name) || !synced.has(name))
    for (const name of kept) if (!listed.has(name)) names.push(name)
    return names
  }

  /** The folder's listing; waits only where none is fresh. */
  listing(folder: Node): MaybePromise<Listing> {
    return this.listings.get(folder)
  }

  /** The document itself was asked, since its listing does not tell all. */
  completed(node: Node, record: RemoteFile, askedAt: number): void {
    const { remote, stored } = node
    const isMoreOfTheSame = remote !== undefined && stored.lookedUpAt === undefined && agrees(remote, record)
    if (this.versions.complete(node, record, askedAt) && !isMoreOfTheSame) this.overtaken(node)
  }

  /**
   * The document is back where the service has it, and its way elsewhere was never sent: the listing of its folder may have
   * been saved without it meanwhile.
   */
  backAtOwnPath(node: Node): void {
    this.versions.backAtOwnPath(node)
    const { remote: record, name, path } = node
    if (record !== undefined) this.#options.saved.agreed([{ folder: folderOf(path), name, record }])
  }

  /** The folder shows another list of names now, and its times say so. */
  #namesChanged(folder: Node | undefined): void {
    if (folder?.folder === undefined) return
    folder.folder.change()
    this.#times.changed(folder, this.#options.wall())
  }

  /** True when nothing is visible in a folder whose listing is known, or nothing that counts. */
  isEmpty(folder: Node, countsNot: (child: Node) => boolean = () => false): boolean {
    const state = folder.folder
    if (state === undefined) return false
    for (const name of state.kept) {
      const child = state.children.get(name)
      if (child === undefined || !countsNot(child)) return false
    }
    const synced = this.synced.in(folder)
    for (const name of this.listings.known(folder)?.names.keys() ?? []) if (!synced.has(name)) return false
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
      isKept(node) &&
      (this.places.agreed(node)?.agreedAt === undefined || !isNewer(record, fingerprintOf(node.remote)))
    if (isOurs) return
    if (node.storedPath !== path || fingerprintOf(node.remote) === fingerprintOf(record)) return
    this.versions.show(node, record, this.#options.now())
    const { parent } = node
    if (parent !== undefined) {
      this.#options.saved.changed(parent.path, node.name, record)
      this.askAgain(parent)
    }
    this.overtaken(node)
  }

  /** The node shows another client's version by now: content of the older one that is here goes, and the door is told. */
  overtaken(node: Node): void {
    this.#options.overtaken(node)
    node.door.contentChanged()
    this.notifier.contentChanged(node.ino)
    const { parent, name, kind } = node
    if (parent !== undefined && this.watcher.watches(parent.ino))
      this.watcher.found(parent.ino, [{ what: 'changed', name, kind }])
  }
}
