// Listings of folders, each for at most the cache TTL, counted from the moment it was asked for. Concurrent readers
// share one request; a folder in use is asked again before its time is up. Bounded in bytes, and given up when nobody
// looked for a cache TTL: then, away from the service, the saved listing stands in. One too large to be saved stays,
// and one of a folder in which something is here only.

import { LRUCache } from 'lru-cache'
import type { Timer, Timers } from '../../world/clock.ts'
import { orderedBytes } from './folder-order.ts'
import { JustListed } from './just-listed.ts'
import type { ListedNames } from './listed-names.ts'
import type { Node } from './node.ts'
import { mostSavedNames } from '../../content/spool/saved-listings.ts'
import type { MaybePromise } from '../operations.ts'

/** The interface promises presigned URLs for 15 minutes: a listing older than that is of no use. */
export const longestTtlMs: number = 15 * 60_000
/** Shortest pause before a sweep for unused listings (ms). */
const shortestSweepMs = 1_000
/** Dropped listings of this many bytes are worth some work to give their memory back. */
const worthGivingBack = 8 * 1024 ** 2

export interface Listing {
  readonly names: ListedNames
  /** When it was asked for (ms): local changes settled later are not in it. */
  readonly requestedAt: number
  /** It says otherwise of something that was changed here lately: not believed beyond this time (ms), when it may be asked again. */
  until?: number
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
  /** True where something in the folder is here only, as what stands beside it decides what becomes of it; or where it is watched. */
  isWanted(ino: number): boolean
  /**
   * Asks the service, puts the answer into the tree and sets it here, in one step: what is known is what the tree was told
   * last. `previous` is what was known before.
   */
  load(folder: Node, previous: Listing | undefined): Promise<Listing>
  /** A listing is kept no longer: it made room for others, or nobody looked at it for its time to live. */
  dropped(ino: number, listing: Listing): void
  /** Many listings were dropped, and no more are to be. */
  quiet(): void
}

export class Listings {
  readonly #options: ListingsOptions
  readonly #cache: LRUCache<number, Listing>
  /** Folders that were asked for while the service was away. */
  readonly #servedStale = new Set<Node>()
  /** Requests under way for each folder. Its listing stays until they are answered: an answer may be older than that. */
  readonly #asked = new Map<number, number>()
  /** The newest request of each folder that those who come now may share. */
  readonly #shared = new Map<number, Request>()
  readonly #justListed: JustListed
  #sweep: Timer | undefined
  /** So long the sweep that is due was put off (ms). */
  #sweepsAfterMs = Infinity
  #isClosed = false
  /** Since it was last quiet. */
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

  /** The listing kept now, fresh or not. */
  known(folder: Node): Listing | undefined {
    return this.#cache.peek(folder.ino)
  }

  /** The listing if it is fresh. */
  fresh(folder: Node): Listing | undefined {
    const listing = this.#cache.peek(folder.ino)
    return listing !== undefined && this.remainingMs(listing) > 0 ? listing : undefined
  }

  set(folder: Node, listing: Listing): void {
    // A request under way may have been sent before this one.
    this.#shared.delete(folder.ino)
    this.#justListed.add(folder.ino, listing.names)
    this.#cache.set(folder.ino, listing)
    this.#dropLater()
  }

  /** Names in all listings, and the bytes they take. */
  get kept(): { names: number; bytes: number } {
    let names = 0
    for (const listing of this.#cache.values()) names += listing.names.size
    return { names, bytes: this.#cache.calculatedSize }
  }

  /** No timer is left. */
  close(): void {
    this.#isClosed = true
    this.#options.timers.clear(this.#sweep)
    this.#sweep = undefined
  }

  /** The next look asks the service. While that is away, the old listing is still told. */
  expire(folder: Node): void {
    const listing = this.#cache.peek(folder.ino)
    if (listing !== undefined) listing.until = -Infinity
  }

  forget(folder: Node): void {
    this.#servedStale.delete(folder)
    this.#justListed.forget(folder.ino)
    this.#shared.delete(folder.ino)
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

  /** A listing asked for from now on, whatever is known. Rejects as `load` does. */
  async fetch(folder: Node): Promise<Listing> {
    const { ino } = folder
    this.#asked.set(ino, (this.#asked.get(ino) ?? 0) + 1)
    try {
      const listing = await this.#options.load(folder, this.known(folder))
      // Another one that is known by now is as new as this.
      if (this.known(folder) === undefined) this.set(folder, listing)
      return listing
    } finally {
      const others = (this.#asked.get(ino) ?? 1) - 1
      if (others > 0) this.#asked.set(ino, others)
      else this.#asked.delete(ino)
      this.#dropLater()
    }
  }

  /** A listing that was packed takes less room: it is weighed anew, so that others fit in. */
  #weighAgain(ino: number, names: ListedNames): void {
    const listing = this.#cache.peek(ino)
    if (listing?.names !== names) return
    this.#cache.delete(ino)
    this.#cache.set(ino, listing)
  }

  #dropLater(): void {
    this.#sweepAfter(Math.max(shortestSweepMs, this.#options.ttlMs / 4))
  }

  /** At the latest. */
  #sweepAfter(ms: number): void {
    if (this.#isClosed || (this.#sweep !== undefined && this.#sweepsAfterMs <= ms)) return
    const { timers } = this.#options
    timers.clear(this.#sweep)
    this.#sweepsAfterMs = ms
    this.#sweep = timers.setTimeout(() => this.#dropUnused(), ms).unref()
  }

  /**
   * Drops listings that are old: one in use was asked for again before its time was up. While the service is away any
   * age is of use.
   */
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
    // An old listing stays if its folder holds something that is here only, or until the service is back: for days, perhaps.
    if (left.some((listing) => !this.#isOld(listing))) this.#dropLater()
    else if (left.length > 0) this.#sweepAfter(Math.min(2 * this.#sweepsAfterMs, longestTtlMs))
    // When no more goes, or nothing is left.
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

  /** Shares a request under way, unless its answer will be older than a listing may be. */
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
