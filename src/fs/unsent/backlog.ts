// Changes that waited while the service was away, and the notice that all of them are stored.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { type Job, waitForJob } from '../../content/commit/job.ts'
import type { Clock } from '../../world/clock.ts'

export interface BacklogOptions {
  readonly queue: CommitQueue
  readonly clock: Clock
  /** Called when the service has all of them. */
  readonly onSent: () => void
}

export class Backlog {
  readonly #options: BacklogOptions
  #isFollowed = false

  constructor(options: BacklogOptions) {
    this.#options = options
  }

  /**
   * Called when the service is back: follows the changes that wait now until all are stored, and calls `onSent`; not after a
   * refusal, which has a notice of its own.
   */
  follow(): void {
    const jobs = [...this.#options.queue.jobs()].filter(({ intention }) => !intention.isRefused)
    if (this.#isFollowed || jobs.length === 0) return
    this.#isFollowed = true
    void this.#wait(jobs)
      .then(this.#options.onSent, () => {})
      .finally(() => (this.#isFollowed = false))
  }

  async #wait(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) await waitForJob(this.#options.clock, job, { timeoutMs: Infinity })
  }
}
