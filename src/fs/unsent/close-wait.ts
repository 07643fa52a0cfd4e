// How long a close, or a rename, waits for the service: `--close-wait`. A change that takes longer, or meets a
// service out of reach, is journaled and sent in the background.

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
  /** Ends the rest of a job. */
  readonly runNow: (job: Job) => void
}

export class CloseWait {
  readonly #options: CloseWaitOptions

  constructor(options: CloseWaitOptions) {
    this.#options = options
  }

  /** True where nobody waits: what is saved is sent in its own time. */
  get isNone(): boolean {
    return this.#options.closeWaitMs === 0
  }

  /** Resolves when the service agreed, or the change is sure to survive. Throws the service's refusal. */
  async wait(job: Job, signal: AbortSignal): Promise<void> {
    const { closeWaitMs, clock, reach, journal, log, runNow } = this.#options
    const isPatient = closeWaitMs === Infinity
    // Known to be away: there is nothing to wait for.
    if (this.isNone || (reach.isAway && !isPatient)) return journal.durable()
    // It rests for what may still be written; whoever waits is done with it.
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
    // It is kept, and tried again; whoever saved it hears that nobody may, so far.
    if (outcome === 'timeout' && isForbidden(job.error)) throw job.error
    log.info({ path: job.intention.path, outcome }, 'saved here; sending goes on in the background')
  }
}

/** Said to a change; a download whose link expired meanwhile is no word on it. */
function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.method !== 'GET' && (error.status === 401 || error.status === 403)
}
