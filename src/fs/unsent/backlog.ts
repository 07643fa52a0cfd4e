// Changes that waited for a service that was away, and the notice that all of them have arrived.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { type Job, waitForJob } from '../../content/commit/job.ts'
import type { Clock } from '../../world/clock.ts'

export interface BacklogOptions {
  readonly queue: CommitQueue
  readonly clock: Clock
  /** All of it is with the service. */
  readonly onSent: () => void
}

export class Backlog {
  readonly #options: BacklogOptions
  #isFollowed = false

  constructor(options: BacklogOptions) {
    this.#options = options
  }

  /**
   * The service is back: changes that wait now are followed to their end. A refusal has a notice of its own, and `onSent` is
   * not called then.
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
