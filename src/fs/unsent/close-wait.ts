// The time that a close or a rename waits for the service: `--close-wait`. A change that takes longer, or finds the service
// unreachable, is journaled and sent in the background.

import { ApiError } from '../../api/errors.ts'
import { waitForJob, type Job } from '../../content/commit/job.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { Log } from '../../log.ts'
import type { Clock } from '../../world/clock.ts'

export interface CloseWaitOptions {
  readonly closeWaitMs: number
  readonly clock: Clock
  readonly reach: Reach
  readonly journal: Journal
  readonly log: Log
  /** Ends the quiet time of a job. */
  readonly runNow: (job: Job) => void
}

export class CloseWait {
  readonly #options: CloseWaitOptions

  constructor(options: CloseWaitOptions) {
    this.#options = options
  }

  /** True if closes never wait: changes are sent in the background. */
  get isNone(): boolean {
    return this.#options.closeWaitMs === 0
  }

  /** Resolves when the service has agreed, or the change is sure to survive a power cut. Throws the service's refusal. */
  async wait(job: Job, signal: AbortSignal): Promise<void> {
    const { closeWaitMs, clock, reach, journal, log, runNow } = this.#options
    const isPatient = closeWaitMs === Infinity
    // While the service is known to be away, there is nothing to wait for.
    if (this.isNone || (reach.isAway && !isPatient)) return journal.durable()
    // The job waits for further writes, and the program that waits here has made its last one.
    if (job.isDeferred) runNow(job)
    const waiting = waitForJob(clock, job, {
      timeoutMs: closeWaitMs,
      signal,
      untilUnreachable: !isPatient,
      // A program that writes the document again may be waiting for this very close.
      untilHeld: true,
    })
    const outcome = await (isPatient ? waiting : reach.unlessAway(waiting))
    if (outcome === 'done') return
    await journal.durable()
    if (outcome === 'held') return
    // The change is kept, and tried again; the program gets the error that the key may not make it.
    if (outcome === 'timeout' && isForbidden(job.error)) throw job.error
    log.info({ path: job.intention.path, outcome }, 'saved here; sending goes on in the background')
  }
}

/** True if the service forbade a change; a forbidden download only means that its link has expired. */
function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.method !== 'GET' && (error.status === 401 || error.status === 403)
}
