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

  /** The service is back: what waits now is followed to its end. A refusal is told by itself, and there is no word then. */
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
