// The rest of a document that is read here and there, fetched behind its readers as far as they have paid for it: see
// rent-or-buy.ts. One for each version in use. It ends with the last handle; what was paid is remembered.

import { blockCount, blockSizeBytes } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { FetchOwner } from './fetch.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { boughtPart } from './rent-or-buy.ts'

export interface BackgroundFetchOptions {
  readonly sizeBytes: number
  readonly link: LinkEstimate
  /** How much of it may be kept, in bytes. */
  readonly keepableBytes: number
  /** There is room for what comes now: the disk follows. */
  hasRoom(): boolean
  fetch(run: BlockRun, owner: FetchOwner): void
  /** Fetches of this owner that are under way. */
  underWay(owner: FetchOwner): number
}

/** 4 MiB: a segment of the disk cache. */
const pieceBlocks = 32
/** Fetches under way at once fill the way for so many round trips. */
const filledRoundTrips = 2
/** A shorter round trip is counted as this (ms). */
const leastRoundTripMs = 20
const mostAtOnce = 8

export class BackgroundFetch implements FetchOwner {
  readonly #options: BackgroundFetchOptions
  readonly #pieces: number
  /** Pieces asked for. */
  readonly #asked = new Set<number>()
  #paidMs = 0
  #misses = 0
  #shortestMs = Number.POSITIVE_INFINITY
  #lastBlock = 0
  #isBackwards = false
  #isWatched = false

  constructor(options: BackgroundFetchOptions) {
    this.#options = options
    this.#pieces = Math.ceil(blockCount(options.sizeBytes) / pieceBlocks)
  }

  /** Blocks that come wait on the network while the disk has not followed. */
  get wantedEnd(): number {
    return this.#options.hasRoom() ? Number.POSITIVE_INFINITY : 0
  }

  /** A reader has waited so long for a block that nobody had fetched. */
  paid(ms: number, block: number): void {
    this.#paidMs += ms
    this.#misses++
    this.#shortestMs = Math.min(this.#shortestMs, ms)
    this.#isBackwards = block < this.#lastBlock
    this.#lastBlock = block
    this.#isWatched = true
    this.fetchOn()
  }

  /** Asks for what is paid for, a few pieces at a time; called again when one has come. */
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

  /** Pieces. On a slow way it is one: what a reader waits for would wait behind the others. */
  get #atOnce(): number {
    const filledMs = filledRoundTrips * Math.max(leastRoundTripMs, this.#shortestMs)
    const pieceMs = this.#options.link.msFor(pieceBlocks * blockSizeBytes)
    return Math.min(mostAtOnce, Math.max(1, Math.floor(filledMs / pieceMs)))
  }

  /** A piece did not come whole: it is asked for again, when somebody pays again. */
  failed({ first, end }: BlockRun): void {
    for (let piece = Math.floor(first / pieceBlocks); piece * pieceBlocks < end; piece++)
      this.#asked.delete(piece)
    this.#isWatched = false
  }

  /** The last handle was closed: nothing more is asked for until a reader pays again. */
  left(): void {
    this.#isWatched = false
    this.#asked.clear()
  }

  /** The nearest one that lies where the reader goes, and then round. */
  #nextPiece(): number {
    const here = Math.floor(this.#lastBlock / pieceBlocks)
    const step = this.#isBackwards ? -1 : 1
    for (let away = 0; ; away++) {
      const piece = (here + step * away + this.#pieces * away) % this.#pieces
      if (!this.#asked.has(piece)) return piece
    }
  }
}
