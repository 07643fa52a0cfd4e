// Fetches the rest of a document whose readers jump about, in the background, as far as they have paid for it by waiting: see
// rent-or-buy.ts. One for each version in use. It stops with the last handle; the payments are remembered.

import { blockCount, blockSizeBytes } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { FetchOwner } from './fetch.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { boughtPart } from './rent-or-buy.ts'

export interface BackgroundFetchOptions {
  readonly sizeBytes: number
  readonly link: LinkEstimate
  /** Largest document that may be kept (bytes): a larger one is never fetched whole. */
  readonly keepableBytes: number
  /** True where fetched blocks would be kept, because the disk keeps up. */
  hasRoom(): boolean
  fetch(run: BlockRun, owner: FetchOwner): void
  /** Number of fetches of this owner under way. */
  underWay(owner: FetchOwner): number
}

/** 4 MiB: a segment of the disk cache. */
const pieceBlocks = 32
/** Fetches under way at once fill the link for so many round trips. */
const filledRoundTrips = 2
/** A shorter round trip counts as this (ms). */
const leastRoundTripMs = 20
const mostAtOnce = 8

export class BackgroundFetch implements FetchOwner {
  readonly #options: BackgroundFetchOptions
  readonly #pieces: number
  /** Numbers of the pieces asked for. */
  readonly #asked = new Set<number>()
  #paidMs = 0
  #misses = 0
  #shortestMs = Number.POSITIVE_INFINITY
  #lastBlock = 0
  #isBackwards = false
  /** True while fetching goes on: since a reader last paid, until a failure or the last close. */
  #isWatched = false

  constructor(options: BackgroundFetchOptions) {
    this.#options = options
    this.#pieces = Math.ceil(blockCount(options.sizeBytes) / pieceBlocks)
  }

  /** Blocks before this one may be received now: none while the disk does not keep up. */
  get wantedEnd(): number {
    return this.#options.hasRoom() ? Number.POSITIVE_INFINITY : 0
  }

  /** Notes that a reader has waited so long (ms) for a block that was not fetched. */
  paid(ms: number, block: number): void {
    this.#paidMs += ms
    this.#misses++
    this.#shortestMs = Math.min(this.#shortestMs, ms)
    this.#isBackwards = block < this.#lastBlock
    this.#lastBlock = block
    this.#isWatched = true
    this.fetchOn()
  }

  /** Fetches what is paid for, a few pieces at a time; called again when one has arrived. */
  fetchOn(): void {
    const { sizeBytes, keepableBytes, link } = this.#options
    if (!this.#isWatched || sizeBytes > keepableBytes) return
    const account = { paidMs: this.#paidMs, misses: this.#misses, shortestMs: this.#shortestMs }
    const part = boughtPart(account, link.msFor(sizeBytes))
    const until = Math.floor(part * this.#pieces)
    const atOnce = this.#atOnce
    while (this.#asked.size < until && this.#options.underWay(this) < atOnce) {
      const piece = this.#nextPiece()
      this.#asked.add(piece)
      const first = piece * pieceBlocks
      this.#options.fetch({ first, end: Math.min(first + pieceBlocks, blockCount(sizeBytes)) }, this)
    }
  }

  /** Pieces fetched at once. On a slow link it is one, as the block that a reader waits for would wait behind the others. */
  get #atOnce(): number {
    const filledMs = filledRoundTrips * Math.max(leastRoundTripMs, this.#shortestMs)
    const pieceMs = this.#options.link.msFor(pieceBlocks * blockSizeBytes)
    return Math.min(mostAtOnce, Math.max(1, Math.floor(filledMs / pieceMs)))
  }

  /** Notes that a fetch failed: its pieces are fetched again, when a reader pays again. */
  failed({ first, end }: BlockRun): void {
    for (let piece = Math.floor(first / pieceBlocks); piece * pieceBlocks < end; piece++)
      this.#asked.delete(piece)
    this.#isWatched = false
  }

  /** Called when the last handle was closed: nothing more is fetched until a reader pays again. */
  lastHandleClosed(): void {
    this.#isWatched = false
    this.#asked.clear()
  }

  /** The nearest piece in the reader's direction, continuing at the other end of the document. */
  #nextPiece(): number {
    const here = Math.floor(this.#lastBlock / pieceBlocks)
    const step = this.#isBackwards ? -1 : 1
    for (let distance = 0; ; distance++) {
      const piece = (here + step * distance + this.#pieces * distance) % this.#pieces
      if (!this.#asked.has(piece)) return piece
    }
  }
}
