// Syncs of the journal's log, after which its commits survive a power cut: one for all callers that wait, and within a second if
// none does.

import type { Clock, Timer } from '../../world/clock.ts'
import { BelievedSync } from './believed-sync.ts'
import { GroupSync } from './group-sync.ts'

/** Time in which a change becomes durable that no caller waits for (ms): a delete, a folder, a time that was set. */
const syncWithinMs = 1_000

export interface JournalSyncOptions {
  readonly clock: Clock
  /** Syncs the log, as it is when this is called. */
  readonly sync: () => Promise<void>
  /** Writes all of the log again, after a failed sync. */
  readonly writeAgain: () => void
  /** Called within a second, to make changes durable that no caller waits for. */
  readonly onTimer: () => Promise<void>
}

export class JournalSync {
  readonly #options: JournalSyncOptions
  readonly #group = new GroupSync(() => this.#syncOnce())
  #believed = new BelievedSync()
  #timer: Timer | undefined
  /** Number of transactions so far, and of those that a sync has covered. */
  #changes = 0
  #synced = 0
  /** Steps to take once everything written so far survives a power cut. */
  #steps: (() => void)[] = []
  #isClosed = false

  constructor(options: JournalSyncOptions) {
    this.#options = options
  }

  /** Counts a committed transaction. */
  countCommit(): void {
    this.#changes++
  }

  /** Called when all content is in a new log, on disk: failed syncs of the earlier one do not matter any more. */
  logReplaced(): void {
    this.#believed = new BelievedSync()
    this.#synced = this.#changes
  }

  /** Resolves when everything committed survives a power cut; syncs only if needed. */
  async syncIfNeeded(): Promise<void> {
    if (this.#synced < this.#changes) await this.#group.run()
  }

  /** Like `syncIfNeeded`, but always by a sync that begins after this call. */
  run(): Promise<void> {
    return this.#group.run()
  }

  async #syncOnce(): Promise<void> {
    const changes = this.#changes
    const { sync, writeAgain } = this.#options
    await this.#believed.run(sync, writeAgain)
    this.#synced = Math.max(this.#synced, changes)
  }

  /** Adds a step for the next `takeSteps`, which comes within a second. */
  onceDurable(step: () => void): void {
    this.#steps.push(step)
    this.syncSoon()
  }

  /** Removes and returns the steps, to be run after a sync; given back by `putBackSteps` if that fails. */
  takeSteps(): readonly (() => void)[] {
    const steps = this.#steps
    this.#steps = []
    return steps
  }

  putBackSteps(steps: readonly (() => void)[]): void {
    this.#steps.unshift(...steps)
  }

  /** Makes everything written durable within a second. */
  syncSoon(): void {
    this.#timer ??= this.#options.clock.setTimeout(() => this.#onTimer(), syncWithinMs).unref()
  }

  #onTimer(): void {
    this.#timer = undefined
    // Callers that need to know call `durable`, which reports the error; here it is only tried again.
    this.#options.onTimer().catch(() => {
      if (!this.#isClosed) this.syncSoon()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#options.clock.clear(this.#timer)
  }
}
