// The state of a fetch: a run of blocks on its way. fill-fetch.ts carries it out.

import type { Timers } from '../../world/clock.ts'
import { Cancellation } from './cancellation.ts'
import { blockSizeBytes } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { Urgency } from './download-queue.ts'

/** Owner of a fetch: a handle that will read the blocks fetched ahead, or another consumer. */
export interface FetchOwner {
  /** One past the last block that it wants now: later ones need not be received yet. */
  readonly wantedEnd: number
}

/** A fetch with no more bytes left is not aborted, so that its connection can be used again. */
const nearlyDoneBytes = 256 * 1024
/** A reader waits for a block so many bytes ahead in a stream; for a later one it gets a request of its own. */
const nearBytes = 2 * 1024 * 1024

export class Fetch implements BlockRun {
  readonly first: number
  /** May shrink while queued. */
  end: number
  /** The next block to arrive. */
  next: number
  readonly urgency: Urgency
  /** True while it waits for a slot of the download queue. */
  isQueued = false
  /** True once its first bytes have arrived. */
  isFlowing = false
  /** Owners that will read these blocks. */
  readonly owners: Set<FetchOwner>
  readonly cancellation: Cancellation = new Cancellation()
  #resume: (() => void) | undefined

  constructor(run: BlockRun, urgency: Urgency, owners: Iterable<FetchOwner>) {
    this.first = run.first
    this.next = run.first
    this.end = run.end
    this.urgency = urgency
    this.owners = new Set(owners)
  }

  /** True where the block will still arrive by this fetch. */
  covers(block: number): boolean {
    return block >= this.next && block < this.end && !this.cancellation.isCancelled
  }

  /** True where the block will arrive soon enough to wait for it. */
  willSoonGive(block: number): boolean {
    const isNear = (block - this.next) * blockSizeBytes <= nearBytes
    return this.covers(block) && (isNear || this.isQueued)
  }

  get isNearlyDone(): boolean {
    return !this.isQueued && (this.end - this.next) * blockSizeBytes <= nearlyDoneBytes
  }

  /** True where an owner wants the next block now, or there is no owner: then it is simply finished. */
  get isWanted(): boolean {
    if (this.owners.size === 0) return true
    for (const owner of this.owners) if (owner.wantedEnd > this.next) return true
    return false
  }

  /** True while its stream is held back, because no owner wants more yet. */
  get isPaused(): boolean {
    return this.#resume !== undefined
  }

  /** Resolves at `resume`, or after `ms`. */
  pause(ms: number, timers: Timers): Promise<void> {
    return new Promise((resolve) => {
      const timer = timers.setTimeout(() => this.resume(), ms)
      this.#resume = () => {
        timers.clear(timer)
        this.#resume = undefined
        resolve()
      }
    })
  }

  resume(): void {
    this.#resume?.()
  }

  abort(): void {
    this.cancellation.cancel(new DOMException('nobody waits for it any more', 'AbortError'))
    this.resume()
  }
}
