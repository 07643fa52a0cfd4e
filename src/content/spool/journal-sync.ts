// When what was written into the journal's log survives a power cut: one sync for everybody who waits for it, and within a second
// where nobody does.

import type { Clock, Timer } from '../../world/clock.ts'
import { BelievedSync } from './believed-sync.ts'
import { GroupSync } from './group-sync.ts'

/** A change that no caller asks to be durable is so after this long: a delete, a folder, a time that was set. */
const syncWithinMs = 1_000

export interface JournalSyncOptions {
  readonly clock: Clock
  /** Of the log as it is by then. */
  readonly sync: () => Promise<void>
  /** All of it is written again: a sync of it has failed. */
  readonly writeAgain: () => void
  /** In time, where nobody else did. */
  readonly inTime: () => Promise<void>
}

export class JournalSync {
  readonly #options: JournalSyncOptions
  readonly #group = new GroupSync(() => this.#syncOnce())
  #believed = new BelievedSync()
  #timer: Timer | undefined
  /** Transactions so far, and how many of them a sync has covered. */
  #changes = 0
  #synced = 0
  /** Steps to take once everything written so far survives a power cut. */
  #steps: (() => void)[] = []
  #isClosed = false

  constructor(options: JournalSyncOptions) {
    this.#options = options
  }

  /** A transaction was committed. */
  changed(): void {
    this.#changes++
  }

  /** Everything committed so far is in a log of its own, on disk: nothing of an earlier one's failures holds for it. */
  begunAnew(): void {
    this.#believed = new BelievedSync()
    this.#synced = this.#changes
  }

  /** Resolves when all that was committed survives a power cut. Costs nothing where it does. */
  async catchUp(): Promise<void> {
    if (this.#synced < this.#changes) await this.#group.run()
  }

  /** As `catchUp`, always by a sync that begins after this call. */
  run(): Promise<void> {
    return this.#group.run()
  }

  async #syncOnce(): Promise<void> {
    const changes = this.#changes
    const { sync, writeAgain } = this.#options
    await this.#believed.run(sync, writeAgain)
    this.#synced = Math.max(this.#synced, changes)
  }

  /** Done by whoever takes the steps after the next sync, in a second at the latest. */
  onceDurable(step: () => void): void {
    this.#steps.push(step)
    this.soon()
  }

  /** Steps to take once it is durable. `putBack` where it is not. */
  take(): readonly (() => void)[] {
    const steps = this.#steps
    this.#steps = []
    return steps
  }

  putBack(steps: readonly (() => void)[]): void {
    this.#steps.unshift(...steps)
  }

  /** Makes what was written durable within a second, whoever asks. */
  soon(): void {
    this.#timer ??= this.#options.clock.setTimeout(() => this.#now(), syncWithinMs).unref()
  }

  #now(): void {
    this.#timer = undefined
    // A caller that needs to know asks for it, and is told; a disk that failed once is asked again.
    this.#options.inTime().catch(() => {
      if (!this.#isClosed) this.soon()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#options.clock.clear(this.#timer)
  }
}
