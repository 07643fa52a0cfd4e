// The cache of folders' listings, each valid for at most the cache TTL from when it was requested. Concurrent readers share one
// request, and a folder in use is requested again before its listing expires. The cache is bounded in bytes. A listing that was not
// used for a TTL is dropped: while the service is away, the saved one (`saved-listings.ts`) replaces it. Exceptions are listings too
// large to be saved, and those that are still wanted (`isWanted`).

import { LRUCache } from 'lru-cache'
import type { Timer, Timers } from '../../world/clock.ts'
import { orderedBytes } from './folder-order.ts'
import { JustListed } from './just-listed.ts'
import type { ListedNames } from './listed-names.ts'
import type { Node } from './node.ts'
import { mostSavedNames } from '../../content/spool/saved-listings.ts'
import { onRollback } from '../../content/spool/transaction-steps.ts'
import type { MaybePromise } from '../operations.ts'

/** The interface promises presigned URLs for 15 minutes: a listing older than that is of no use. */
export const longestTtlMs: number = 15 * 60_000
/** Shortest pause before a sweep for unused listings (ms). */
const shortestSweepMs = 1_000
/** Dropped listings of this many bytes are worth some work to give their memory back. */
const worthGivingBack = 8 * 1024 ** 2

export interface Listing {
  readonly names: ListedNames
  /** When it was requested (ms): changes that the service agreed to later are not in it. */
  readonly requestedAt: number
}

/** A request for a folder's listing that is under way. */
interface Request {
  /** When it was sent (ms). */
  readonly at: number
  readonly answer: Promise<Listing>
}

export interface ListingsOptions {
  readonly ttlMs: number
  readonly now: () => number
  readonly timers: Timers
  /** Bytes of all listings together; one that is larger alone is kept alone. */
  readonly mostBytes: number
  /** True while the service cannot be asked: what is known is served, of any age. */
  isAway(): boolean
  /** True if its listing must stay, however old: a door watches the folder, or it has an entry of this drive's own. */
  isWanted(ino: number): boolean
  /**
   * Requests the listing; applies it to the tree and calls `set` in one step, so that the known listing is always the one applied
   * last. `previous`: the known one before.
   */
  load(folder: Node, previous: Listing | undefined): Promise<Listing>
  /** Called when a listing is dropped: others need the room, or it was not used for a TTL. */
  dropped(ino: number, listing: Listing): void
  /** Called after many listings were dropped, when no more will be soon. */
  quiet(): void
}

export class Listings {
  readonly #options: ListingsOptions
  readonly #cache: LRUCache<number, Listing>
  /** Folders that were listed from the cache while the service was away. */
  readonly #servedStale = new Set<Node>()
  /** Number of requests under way, by folder. Its listing is not dropped meanwhile: an answer may be older than it. */
  readonly #asked = new Map<number, number>()
  /** The newest request under way, by folder, for later readers to share. */
  readonly #shared = new Map<number, Request>()
  readonly #justListed: JustListed
  /** Times (ms) until which listings are valid at most. */
  readonly #until = new WeakMap<Listing, number>()
  #sweep: Timer | undefined
  /** Delay (ms) after which the scheduled sweep was to run. */
  #sweepsAfterMs = Infinity
  #isClosed = false
  /** Bytes of the listings that were dropped since the last call of `quiet`. */
  #droppedBytes = 0

  constructor(options: ListingsOptions) {
    this.#options = options
    this.#cache = new LRUCache({
      maxSize: options.mostBytes,
      sizeCalculation: ({ names }) => Math.min(names.bytes + names.size * orderedBytes, options.mostBytes),
      disposeAfter: (listing, ino, reason) => {
        if (reason === 'evict') this.#drop(ino, listing)
      },
    })
    this.#justListed = new JustListed({
      mostBytes: options.mostBytes / 8,
      packed: (ino, names) => this.#weighAgain(ino, names),
    })
  }

  /** Returns the folder's listing: the known one if it is fresh or the service is away, else a new one. Rejects as `load` does. */
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

  /** Returns the folders that were listed from the cache since the last call, while the service was away. */
  takeServedStale(): Node[] {
    const folders = [...this.#servedStale]
    this.#servedStale.clear()
    return folders
  }

  /** Returns the cached listing, fresh or not. */
  known(folder: Node): Listing | undefined {
    return this.#cache.peek(folder.ino)
  }

  /** Returns the cached listing if it is fresh. */
  fresh(folder: Node): Listing | undefined {
    const listing = this.#cache.peek(folder.ino)
    return listing !== undefined && this.remainingMs(listing) > 0 ? listing : undefined
  }

  set(folder: Node, listing: Listing): void {
    const before = this.known(folder)
    onRollback(() => (before === undefined ? this.forget(folder) : this.set(folder, before)))
    // A request under way may have been sent before this one.
    this.#shared.delete(folder.ino)
    this.#justListed.add(folder.ino, listing.names)
    this.#cache.set(folder.ino, listing)
    this.#dropLater()
  }

  /** Number of names in all listings, and the bytes they take. */
  get kept(): { names: number; bytes: number } {
    let names = 0
    for (const listing of this.#cache.values()) names += listing.names.size
    return { names, bytes: this.#cache.calculatedSize }
  }

  /** Stops the sweeps. */
  close(): void {
    this.#isClosed = true
    this.#options.timers.clear(this.#sweep)
    this.#sweep = undefined
  }

  /** Makes the next reader request a new listing. While the service is away, the old one is still returned. */
  expire(folder: Node): void {
    const listing = this.#cache.peek(folder.ino)
    if (listing !== undefined) this.end(listing, -Infinity)
  }

  /** It contradicts a recent change of this drive, and may lag behind that: valid until this time (ms) at most. */
  end(listing: Listing, at: number): void {
    this.#until.set(listing, Math.min(at, this.#until.get(listing) ?? Infinity))
  }

  forget(folder: Node): void {
    this.#servedStale.delete(folder)
    this.#justListed.forget(folder.ino)
    this.#shared.delete(folder.ino)
    this.#cache.delete(folder.ino)
  }

  /** Returns for how many milliseconds the listing is still fresh; 0 or less if it is not. */
  remainingMs(listing: Listing): number {
    const until = this.#until.get(listing) ?? Infinity
    return Math.min(listing.requestedAt + this.#options.ttlMs, until) - this.#options.now()
  }

  /** Returns for how long (ms) a door may cache what comes from it: less than it is fresh, so that no program waits for a refresh. */
  doorTtlMs(listing: Listing): number {
    return Math.max(0, this.remainingMs(listing) - this.#options.ttlMs / 3)
  }

  /** Requests a new listing, whatever is cached or under way. Rejects as `load` does. */
  async fetch(folder: Node): Promise<Listing> {
    const { ino } = folder
    this.#asked.set(ino, (this.#asked.get(ino) ?? 0) + 1)
    try {
      const listing = await this.#options.load(folder, this.known(folder))
      // One that is known by now is as new as this one.
      if (this.known(folder) === undefined) this.set(folder, listing)
      return listing
    } finally {
      const others = (this.#asked.get(ino) ?? 1) - 1
      if (others > 0) this.#asked.set(ino, others)
      else this.#asked.delete(ino)
      this.#dropLater()
    }
  }

  /** Lets the cache measure a listing again that was packed, and takes less room. */
  #weighAgain(ino: number, names: ListedNames): void {
    const listing = this.#cache.peek(ino)
    if (listing?.names !== names) return
    this.#cache.delete(ino)
    this.#cache.set(ino, listing)
  }

  #dropLater(): void {
    this.#sweepAfter(Math.max(shortestSweepMs, this.#options.ttlMs / 4))
  }

  /** Schedules a sweep in `ms` at the latest. */
  #sweepAfter(ms: number): void {
    if (this.#isClosed || (this.#sweep !== undefined && this.#sweepsAfterMs <= ms)) return
    const { timers } = this.#options
    timers.clear(this.#sweep)
    this.#sweepsAfterMs = ms
    this.#sweep = timers.setTimeout(() => this.#dropUnused(), ms).unref()
  }

  /** Drops expired listings: one in use was requested again before that. While the service is away, none is dropped. */
  #dropUnused(): void {
    this.#sweep = undefined
    const options = this.#options
    const before = this.#droppedBytes
    if (!options.isAway()) {
      const old = [...this.#cache.entries()].filter((entry) => this.#isUnused(...entry))
      for (const [ino, listing] of old) {
        this.#cache.delete(ino)
        this.#drop(ino, listing)
        this.#droppedBytes += listing.names.bytes
      }
    }
    const left = [...this.#cache.values()]
    // If all listings left are old ones that must stay, perhaps for days, the sweeps become rarer.
    if (left.some((listing) => !this.#isOld(listing))) this.#dropLater()
    else if (left.length > 0) this.#sweepAfter(Math.min(2 * this.#sweepsAfterMs, longestTtlMs))
    // Over when this sweep dropped none, or none is left.
    const isOver = this.#droppedBytes === before || left.length === 0
    if (!isOver || this.#droppedBytes < worthGivingBack) return
    this.#droppedBytes = 0
    options.quiet()
  }

  #drop(ino: number, listing: Listing): void {
    this.#justListed.forget(ino)
    this.#options.dropped(ino, listing)
  }

  #isUnused(ino: number, listing: Listing): boolean {
    if (!this.#isOld(listing) || this.#asked.has(ino) || listing.names.size > mostSavedNames) return false
    return !this.#options.isWanted(ino)
  }

  #isOld({ requestedAt }: Listing): boolean {
    return requestedAt + this.#options.ttlMs <= this.#options.now()
  }

  /** Requests a listing, or shares a request under way, unless its answer would be expired already. */
  async #load(folder: Node): Promise<Listing> {
    const { ino } = folder
    const now = this.#options.now()
    let request = this.#shared.get(ino)
    if (request === undefined || now - request.at > this.#options.ttlMs) {
      request = { at: now, answer: this.fetch(folder) }
      this.#shared.set(ino, request)
    }
    try {
      return await request.answer
    } finally {
      if (this.#shared.get(ino) === request) this.#shared.delete(ino)
    }
  }
}
