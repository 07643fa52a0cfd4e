// What the service last said about each folder, for at most the cache TTL counted from the moment it was asked. Concurrent
// readers share one request; a folder in use is asked again before its time is up.

import { LRUCache } from 'lru-cache'
import type { RemoteFile, RemoteFolder } from '../../api/types.ts'
import type { Node } from './node.ts'
import type { MaybePromise } from '../operations.ts'

/** The interface promises presigned URLs for 15 minutes: a listing older than that is of no use. */
export const longestTtlMs: number = 15 * 60_000
/** Names over all cached listings: about 300 bytes each, with their URLs. */
const mostNames = 1_000_000

export interface Listing {
  readonly names: Map<string, RemoteFile | RemoteFolder>
  /** When it was asked for (ms): local changes settled later are not in it. */
  readonly requestedAt: number
  /** It says otherwise of something that was changed here lately: not believed beyond this time (ms), when it may be asked again. */
  until?: number
}

export interface ListingsOptions {
  readonly ttlMs: number
  readonly now: () => number
  /** True while the service cannot be asked: what is known is served, of any age. */
  isAway(): boolean
  /** Asks the service and puts the answer into the tree. `previous` is what was known before. */
  load(folder: Node, previous: Listing | undefined): Promise<Listing>
  /** A listing made room for others. */
  evicted(ino: number): void
}

export class Listings {
  readonly #options: ListingsOptions
  readonly #cache: LRUCache<number, Listing, Node>
  /** Folders that were asked for while the service was away. */
  readonly #servedStale = new Set<Node>()

  constructor(options: ListingsOptions) {
    this.#options = options
    this.#cache = new LRUCache({
      maxSize: mostNames,
      sizeCalculation: (listing) => listing.names.size + 1,
      fetchMethod: (_ino, previous, { context }) => options.load(context, previous),
      disposeAfter: (_listing, ino, reason) => {
        if (reason === 'evict') options.evicted(ino)
      },
      noDeleteOnFetchRejection: true,
      ignoreFetchAbort: true,
    })
  }

  /** The folder's listing, at once where it is fresh. Rejects as `load` does. */
  get(folder: Node): MaybePromise<Listing> {
    const listing = this.#cache.get(folder.ino)
    if (this.#options.isAway()) {
      this.#servedStale.add(folder)
      return listing ?? this.#load(folder)
    }
    if (listing === undefined || this.remainingMs(listing) <= 0) return this.#load(folder)
    const ageMs = this.#options.now() - listing.requestedAt
    if (ageMs > (this.#options.ttlMs * 2) / 3) this.#load(folder).catch(() => {})
    return listing
  }

  /** Folders that were served from old listings since this was last asked. */
  takeServedStale(): Node[] {
    const folders = [...this.#servedStale]
    this.#servedStale.clear()
    return folders
  }

  /** What is known now, fresh or not. */
  known(folder: Node): Listing | undefined {
    return this.#cache.peek(folder.ino)
  }

  /** The listing if it is fresh. */
  fresh(folder: Node): Listing | undefined {
    const listing = this.#cache.peek(folder.ino)
    return listing !== undefined && this.remainingMs(listing) > 0 ? listing : undefined
  }

  set(folder: Node, listing: Listing): void {
    this.#cache.set(folder.ino, listing)
  }

  forget(folder: Node): void {
    this.#servedStale.delete(folder)
    this.#cache.delete(folder.ino)
  }

  /** Milliseconds a listing may still be believed. */
  remainingMs(listing: Listing): number {
    const until = Math.min(listing.requestedAt + this.#options.ttlMs, listing.until ?? Infinity)
    return until - this.#options.now()
  }

  /** How long a door may keep what comes from this listing: it asks again in time for a refresh that nobody waits for. */
  doorTtlMs(listing: Listing): number {
    return Math.max(0, this.remainingMs(listing) - this.#options.ttlMs / 3)
  }

  async #load(folder: Node): Promise<Listing> {
    for (let round = 1; ; round++) {
      try {
        return await this.#cache.forceFetch(folder.ino, { context: folder, forceRefresh: true })
      } catch (error) {
        // lru-cache rejects waiters when the key is deleted meanwhile; what they want is still wanted.
        if (!(error instanceof Error && error.message === 'deleted') || round === 3) throw error
      }
    }
  }
}
