// An answer of the service meets what is true here: what was changed lately is not undone by a listing that lags behind, what
// another client did shows, and the door is told.

import { agrees, fingerprintOf, mayBe } from '../../content/fingerprint.ts'
import type { SyncedPaths } from '../../ledger/synced-paths.ts'
import { isBelieved, type SyncedPath, type Told } from '../../ledger/view.ts'
import type { Notifier, Watcher } from '../operations.ts'
import { changesOfOthers } from './changes-of-others.ts'
import { isRemembered } from './folder-source.ts'
import type { Listing, Listings } from './listings.ts'
import { pathIn, type FolderState, type Node } from './node.ts'
import { isKept, type NodeTable } from './node-table.ts'
import type { Places } from './places.ts'
import type { Versions } from './versions.ts'

export interface ListingMergeOptions {
  readonly nodes: NodeTable
  readonly versions: Versions
  readonly places: Places
  readonly synced: SyncedPaths
  readonly ttlMs: number
  readonly listings: Pick<Listings, 'known' | 'end'>
  notifier(): Notifier
  watcher(): Watcher
  /** The folder shows another list of names now. */
  namesChanged(folder: Node | undefined): void
  /** The node shows another client's version by now. */
  overtaken(node: Node): void
  /** A folder made here is in the service now. */
  folderCreatedRemotely(node: Node): void
  /** Names in the folder at which folders were, as far as anything is saved of them. */
  savedFolders(folder: Node): Iterable<string>
  /** There is no folder at this name any more: one that comes later is another. */
  folderGone(folder: Node, name: string): void
  /** True where the service still has a former folder at this path or above, which is to be removed. */
  isOfFormerFolder(path: string): boolean
  /** It shows another version than the one for which this path is hidden. */
  foundHidden(path: string): void
}

export class ListingMerge {
  readonly #options: ListingMergeOptions

  constructor(options: ListingMergeOptions) {
    this.#options = options
  }

  /** Puts an answer of the service into the tree and tells the door what changed. */
  merge(folder: Node, listing: Listing, previous: Listing | undefined): void {
    const state = folder.folder
    if (state === undefined) return
    const { synced } = this.#options
    const keptBefore = new Set(state.kept)
    const hiddenBefore = new Set([...synced.in(folder).keys()].filter((name) => !keptBefore.has(name)))
    const isWatched = previous !== undefined && this.#options.watcher().watches(folder.ino)
    const nodesBefore = new Map(isWatched ? state.children : [])
    const wasShown = (name: string): boolean =>
      keptBefore.has(name) || (previous?.names.has(name) === true && !hiddenBefore.has(name))
    const isOurs = (name: string): boolean => state.kept.has(name) || synced.in(folder).has(name)
    let hasChanged = false
    for (const [name, row] of synced.in(folder)) {
      // A node that the service has decides with its row.
      if (state.kept.has(name) && state.children.get(name)?.isAhead === false) continue
      const [path, record] = [pathIn(folder, name), listing.names.get(name)]
      if (!this.#decides(listing, record, row, record === undefined)) {
        if (isAnother(row, record)) this.#options.foundHidden(path)
        continue
      }
      synced.drop(path)
      if (!listing.names.has(name) || state.kept.has(name)) continue
      hasChanged = true
      this.#options.notifier().entryChanged(folder.ino, name)
    }
    // With nothing to compare with, what the door was shown before may be anything.
    const dropped = state.takeDropped()
    let haveNamesChanged =
      previous === undefined &&
      state.wasListed &&
      (dropped === undefined || dropped !== listing.names.digestWithout(synced.in(folder).keys()))
    for (const child of state.children.values()) {
      if (state.kept.has(child.name) && !this.#isReleased(child, listing)) continue
      if (this.#update(child, listing)) hasChanged = true
    }
    if (previous !== undefined) {
      for (const name of listing.names.keys()) {
        if (wasShown(name) || isOurs(name)) continue
        haveNamesChanged = true
        this.#options.notifier().entryChanged(folder.ino, name)
      }
      for (const names of [previous.names.keys(), keptBefore])
        for (const name of names)
          if (wasShown(name) && !listing.names.has(name) && !state.kept.has(name)) haveNamesChanged = true
    }
    for (const name of this.#foldersBefore(folder, listing, previous))
      if (!isOurs(name) && listing.names.get(name)?.kind !== 'folder') this.#options.folderGone(folder, name)
    if (haveNamesChanged) this.#options.namesChanged(folder)
    else if (hasChanged) state.change()
    if (haveNamesChanged || hasChanged) this.#options.notifier().contentChanged(folder.ino)
    if (isWatched) {
      const changes = changesOfOthers({
        before: (name) => (hiddenBefore.has(name) ? undefined : previous.names.get(name)),
        namesBefore: [...previous.names.keys(), ...keptBefore],
        now: listing.names,
        wasOurs: (name) => keptBefore.has(name),
        isOurs,
        nodesBefore,
      })
      this.#options.watcher().found(folder.ino, changes)
    }
    if (keptBefore.size > 0) this.emptied(folder)
  }

  /** Where the folder was kept for names in it, none of which is kept any more, the listing above it decides. */
  emptied(folder: Node): void {
    const { parent } = folder
    const listing = parent === undefined ? undefined : this.#options.listings.known(parent)
    if (parent?.folder === undefined || listing === undefined || !isKept(folder)) return
    if (!this.#isReleased(folder, listing)) return
    if (this.#update(folder, listing)) {
      this.#options.namesChanged(parent)
      this.#options.notifier().contentChanged(parent.ino)
    }
    this.emptied(parent)
  }

  /** Names that were folders. Where nobody looked for a while, or since before this start, what is saved tells. */
  #foldersBefore(folder: Node, listing: Listing, previous: Listing | undefined): Iterable<string> {
    if (previous !== undefined) return previous.names.namesOf('folder')
    return isRemembered(listing) ? [] : this.#options.savedFolders(folder)
  }

  /** True when the listing may speak of a child that was changed or made here. */
  #isReleased(child: Node, listing: Listing): boolean {
    const record = listing.names.get(child.name)
    const isReleased =
      child.folder === undefined
        ? this.#isFileReleased(child, record, listing)
        : this.#isFolderReleased(child, child.folder, record, listing)
    if (isReleased) {
      this.#options.synced.drop(child.path)
      this.#options.places.unkeep(child)
    }
    return isReleased
  }

  #isFileReleased(child: Node, record: Told | undefined, listing: Listing): boolean {
    const { remote, isAhead, path } = child
    if (isAhead || remote === undefined) return false
    const row = this.#options.synced.at(path)
    const isAgreed = record?.kind === 'file' && agrees(record, remote)
    if (isAgreed && listing.requestedAt > (row?.agreedAt ?? Infinity)) this.#update(child, listing)
    return this.#decides(listing, record, row && { ...row, highest: fingerprintOf(remote) }, isAgreed)
  }

  #isFolderReleased(child: Node, state: FolderState, record: Told | undefined, listing: Listing): boolean {
    const isListed = record?.kind === 'folder'
    if (isListed && state.isMadeHere && state.kept.size === 0 && !this.#mayBeOfBefore(child, listing))
      this.#options.folderCreatedRemotely(child)
    if (state.isMadeHere || state.kept.size > 0) return false
    return this.#decides(listing, record, this.#options.synced.at(child.path), isListed)
  }

  /**
   * A document deleted in the folder may still be listed, and the folder with it: a service may keep no empty
   * folders. Of what was taken away before this start nobody knows when.
   */
  #mayBeOfBefore(folder: Node, listing: Listing): boolean {
    if (this.#options.isOfFormerFolder(folder.path) || isRemembered(listing)) return true
    const { synced } = this.#options
    const rows = [synced.at(folder.path), ...synced.in(folder).values()]
    return rows.some((row) => row !== undefined && listing.requestedAt < row.until)
  }

  /**
   * True where the listing may speak of a change that the service agreed to. One that says otherwise and is not believed yet is asked
   * for again when it may decide.
   */
  #decides(
    listing: Listing,
    record: Told | undefined,
    synced: SyncedPath | undefined,
    isAgreed: boolean,
  ): boolean {
    if (isBelieved(listing.requestedAt, record, synced)) return true
    if (!isAgreed && synced?.agreedAt !== undefined && listing.requestedAt > synced.agreedAt)
      this.#options.listings.end(listing, synced.until)
    return false
  }

  /** Brings a node in line with the listing. True when a program could see the difference. */
  #update(child: Node, listing: Listing): boolean {
    const record = listing.names.get(child.name)
    if (record === undefined || record.kind !== child.kind) {
      this.#hideAndNotify(child)
      return true
    }
    if (record.kind === 'folder' || child.remote === undefined) return false
    if (record.size === undefined && child.remote.size !== undefined && agrees(record, child.remote)) {
      // It tells less than is known, and nothing else: asked again one cache lifetime after what is known was asked for.
      if (child.stored.lookedUpAt === undefined) child.stored.noteLookup(child.stored.askedAt)
      return false
    }
    const isSame = fingerprintOf(record) === fingerprintOf(child.remote)
    if (isSame) {
      child.stored.renew(record, listing.requestedAt)
      return false
    }
    this.#options.versions.show(child, record, listing.requestedAt)
    this.#options.overtaken(child)
    return true
  }

  /** Somebody else removed or replaced it. */
  #hideAndNotify(child: Node): void {
    const { parent } = child
    if (parent === undefined) return
    if (child.folder !== undefined) this.#options.folderGone(parent, child.name)
    this.#options.versions.vanished(child)
    this.#options.places.displace(child)
    this.#options.notifier().entryChanged(parent.ino, child.name)
    this.#options.nodes.dropIfUnused(child)
  }
}

/** The service has not agreed yet, and lists something else than what is to go. */
function isAnother({ highest, agreedAt }: SyncedPath, record: Told | undefined): boolean {
  if (agreedAt !== undefined || record === undefined) return false
  return record.kind === 'folder' || highest === undefined || !mayBe(record, highest)
}
