// A run of blocks on its way. Its state only: what moves it is fill-fetch.ts.

import type { Timers } from '../../world/clock.ts'
import { Cancellation } from './cancellation.ts'
import { blockSizeBytes } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { Urgency } from './download-queue.ts'

/** Owner of a fetch: it will come to the blocks fetched ahead. */
export interface FetchOwner {
  /** One past the last block it wants to have now: what lies beyond may wait on the network. */
  readonly wantedEnd: number
}

/** A fetch with this little left is let finish: its connection can be used again, a broken one cannot. */
const nearlyDoneBytes = 256 * 1024
/** A reader waits for a block this far down a stream; for one further down it gets a request of its own. */
const nearBytes = 2 * 1024 * 1024

export class Fetch implements BlockRun {
  readonly first: number
  /** May shrink while queued. */
  end: number
  /** The next block to arrive. */
  next: number
  readonly urgency: Urgency
  /** Waits for its turn on the network. */
  isQueued = false
  /** Its answer has begun to come. */
  isFlowing = false
  /** Handles that will come to these blocks. */
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

  /** True when the block will still be given out. */
  covers(block: number): boolean {
    return block >= this.next && block < this.end && !this.cancellation.isCancelled
  }

  /** True when the block is worth waiting for. */
  willSoonGive(block: number): boolean {
    const isNear = (block - this.next) * blockSizeBytes <= nearBytes
    return this.covers(block) && (isNear || this.isQueued)
  }

  get isNearlyDone(): boolean {
    return !this.isQueued && (this.end - this.next) * blockSizeBytes <= nearlyDoneBytes
  }

  /** True when some owner wants the next block already; without owners it is finished as it is. */
  get isWanted(): boolean {
    if (this.owners.size === 0) return true
    for (const owner of this.owners) if (owner.wantedEnd > this.next) return true
    return false
  }

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
