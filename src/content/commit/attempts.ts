// Attempts: each runs one job once, and decides what follows: an outcome, a later attempt, or a refusal. A refused job waits for
// the user, until it blocks a newer one: then it *gives way*. Example: the move `f` → `g` is refused, and a new `f` is saved: the
// move takes its content into the spool, and leaves `f` to the save.

import type { Chance } from '../../world/chance.ts'
import { ApiError, NetworkError } from '../../api/errors.ts'
import { ErrnoError, withoutErrno } from '../../errno-error.ts'
import type { RemoteFile } from '../../api/types.ts'
import type { Clock, Timer } from '../../world/clock.ts'
import type { Log } from '../../log.ts'
import { redact } from '../../redact.ts'
import { isAtOrUnder } from '../../path.ts'
import { pathsOf, type CarriedContent, type Intention } from '../intention.ts'
import type { Journal } from '../spool/journal.ts'
import { backoffMs, isWorthRetrying } from './backoff.ts'
import { CountedLog } from './counted-log.ts'
import type { Intake } from './intake.ts'
import type { Job } from './job.ts'
import type { OpenJobs } from './open-jobs.ts'
import type { Outcomes } from './outcomes.ts'
import type { PathOrder } from './path-order.ts'
import type { QueueEvent } from './queue-event.ts'
import type { Questions } from './questions.ts'
import type { Schedule } from './schedule.ts'

/** Pause before a job that could not give way, because the journal had no space, tries to do so again (ms). */
const yieldAgainMs = 10_000

export interface AttemptOptions {
  readonly journal: Journal
  readonly log: Log
  readonly chance: Chance
  readonly ask: Pick<Questions, 'materialize' | 'errnoOf'>
  run(intention: Intention, signal: AbortSignal): Promise<RemoteFile | undefined>
  /** Deletes the source of a refused move, whose content is in the spool by then. */
  deleteSource(intention: Intention, signal: AbortSignal): Promise<void>
  /** True if another document now stands at the source of a refused move. */
  isSourceReplaced(intention: Intention, signal: AbortSignal): Promise<boolean>
  /**
   * Called with every event of an intention, before anything that waits for its job goes on: inside the journal transaction
   * that records it. Only `refused` comes outside one, as it holds even if it cannot be journaled: its listener journals nothing.
   */
  say(event: QueueEvent): void
}

export interface AttemptParts {
  readonly clock: Clock
  readonly order: PathOrder
  readonly open: OpenJobs
  readonly schedule: Schedule
  readonly intake: Intake
  readonly outcomes: Outcomes
}

export class Attempts {
  readonly #options: AttemptOptions
  readonly #parts: AttemptParts
  readonly #log: CountedLog
  /** Jobs that could not give way yet, because the journal had no space. */
  readonly #inTheWay = new Set<Job>()
  #yieldAgain: Timer | undefined

  constructor(options: AttemptOptions, parts: AttemptParts) {
    this.#options = options
    this.#parts = parts
    this.#log = new CountedLog(options.log, parts.clock)
  }

  /** Runs one attempt. Never rejects: a job that is not done waits for its next one. */
  async run(job: Job): Promise<void> {
    const { clock, outcomes } = this.#parts
    const { intention } = job
    const now = clock.steady()
    job.controller = new AbortController()
    job.isUnreachable = false
    job.isDeferred = false
    intention.attempts++
    intention.replacesUndurableRow = this.#options.journal.undurableDeletes.mayResurface(
      pathsOf(intention),
      intention.spool,
    )
    job.firstTriedAt ??= now
    intention.triedForMs = now - job.firstTriedAt
    try {
      const { signal } = job.controller
      if (intention.isRefused) {
        await this.#unblock(job, signal)
      } else if (goesBelowItsSource(intention)) {
        await this.#clearSource(job, signal)
      } else {
        const record = await this.#options.run(intention, signal)
        // The content was written to while its last bytes were sent: the service has an older state of it.
        if (job.isHeld) outcomes.contentSuperseded(job, record)
        else outcomes.done(job, record)
      }
    } catch (error) {
      this.#failed(job, error)
    }
    // In the same tick as the outcome: a check in between would find a job that neither runs nor waits.
    this.#ended(job)
  }

  /** Makes a refused job give way to a newer one that it blocks, with calls to the service. */
  async #unblock(job: Job, signal: AbortSignal): Promise<void> {
    const { order, intake, outcomes } = this.#parts
    const { intention } = job
    if (intention.kind === 'prune') return intake.cancel(job)
    const { isSourceReplaced } = job
    job.isSourceReplaced = false
    if (isSourceReplaced && !job.blocksFolder && order.at(intention.source ?? '').length === 1)
      return this.#leaveToOthers(job, signal)
    // No other job is at the source, so only a folder is to take the place of the document there.
    const isFolder = intention.source !== undefined && order.at(intention.source).length === 1
    await this.#bringHere(job, { isSourceLeft: isFolder }, signal)
    if (!isFolder) return
    try {
      await this.#options.deleteSource(intention, signal)
    } catch (error) {
      // The source stays; the newer job meets the same error.
      if (isWorthRetrying(error)) throw error
    }
    outcomes.moveDetached(job, {}, { isSourceLeft: false })
  }

  /** Detaches a move into a folder of the document's own former name: the document must be deleted before the folder can exist. */
  async #clearSource(job: Job, signal: AbortSignal): Promise<void> {
    await this.#bringHere(job, { isSourceLeft: true }, signal)
    await this.#options.deleteSource(job.intention, signal)
    this.#parts.outcomes.moveDetached(job, {}, { isSourceLeft: false })
  }

  /** Brings a move's content into the spool, and detaches it from its source. `isSourceLeft`: it still has to delete the source. */
  async #bringHere(job: Job, options: { isSourceLeft: boolean }, signal: AbortSignal): Promise<void> {
    const take = (content: CarriedContent): void => this.#parts.outcomes.moveDetached(job, content, options)
    await this.#options.ask.materialize(job.intention, take, signal)
  }

  /** Detaches a move whose source was listed as another document. The listing may lag behind, so the service is asked first. */
  async #leaveToOthers(job: Job, signal: AbortSignal): Promise<void> {
    const { intention } = job
    if (!(await this.#options.isSourceReplaced(intention, signal))) return
    await this.#bringHere(job, { isSourceLeft: false }, signal)
  }

  /**
   * Makes a job that is not done give way to the one behind it, without a call to the service. Never throws: if the journal cannot
   * record it, it is tried again later.
   */
  yieldToNewer(job: Job): void {
    const { clock, intake, schedule } = this.#parts
    try {
      intake.yieldToNewer(job)
    } catch (error) {
      if (schedule.isClosed) return
      const { path } = job.intention
      this.#log.warn(
        'yieldToNewer',
        { path, error: String(error) },
        'the journal cannot take a newer change yet, trying again',
      )
      this.#inTheWay.add(job)
      this.#yieldAgain ??= clock.setTimeout(() => this.#allYield(), yieldAgainMs)
    }
  }

  #allYield(): void {
    const { order, schedule } = this.#parts
    const jobs = [...this.#inTheWay].filter((job) => order.has(job))
    this.#inTheWay.clear()
    this.#yieldAgain = undefined
    for (const job of jobs) this.yieldToNewer(job)
    schedule.checkSoon()
  }

  close(): void {
    this.#parts.clock.clear(this.#yieldAgain)
    this.#log.close()
  }

  /** Refuses an idle job, with the error that an attempt would end with. */
  refuse(job: Job, error: unknown): void {
    this.#failed(job, error)
    this.#ended(job)
  }

  /** Lets an unfinished job wait again, and refused ones at its paths give way. */
  #ended(job: Job): void {
    const { order, open, schedule } = this.#parts
    job.controller = undefined
    if (order.has(job)) {
      schedule.setWaiting(job, true)
      this.yieldToNewer(job)
      // A newer job may be the reason why it was held, but waits for it all the same.
      if (order.has(job) && order.at(job.intention.path).at(-1) !== job) open.release(job)
    }
    // The job that is first by now may have been refused while it stood behind this one.
    for (const path of pathsOf(job.intention)) {
      const first = order.at(path)[0]
      if (first?.intention.isRefused === true) this.yieldToNewer(first)
    }
    job.announce()
    schedule.checkSoon()
  }

  #failed(job: Job, error: unknown): void {
    const { clock, schedule } = this.#parts
    const { intention } = job
    if (schedule.isClosed || job.isHeld) return
    if (intention.isRefused) {
      // It could not give way yet; its refusal, and the reason for it, stay.
      job.dueAt = clock.steady() + backoffMs(intention.attempts, error, this.#options.chance)
      return
    }
    job.error = error
    intention.errorErrno = this.#options.ask.errnoOf(error)
    // The service's message may contain a signature or a key.
    intention.lastError = redact(withoutErrno(error instanceof Error ? error.message : String(error)))
    job.isUnreachable =
      error instanceof NetworkError && (error.kind === 'unreachable' || error.kind === 'away')
    if (isWorthRetrying(error)) this.#putOff(job, error)
    else this.#refused(intention, error)
    if (this.#parts.order.has(job)) this.#saveOutcome(intention)
  }

  #putOff(job: Job, error: unknown): void {
    const { clock } = this.#parts
    const { intention } = job
    const waitMs = backoffMs(intention.attempts, error, this.#options.chance)
    job.dueAt = clock.steady() + waitMs
    intention.notBefore = clock.wall() + waitMs
    const { path, attempts, lastError } = intention
    this.#log.warn(kindOf(error), { path, attempts, error: lastError }, 'not sent yet, trying again')
  }

  #refused(intention: Intention, error: unknown): void {
    intention.isRefused = true
    this.#options.log.error(
      { path: intention.path, error: intention.lastError },
      error instanceof ErrnoError
        ? 'cannot be sent as it is'
        : 'refused by the service; the content is kept here',
    )
    this.#options.say({ kind: 'refused', intention, error })
  }

  /**
   * Journals the outcome of an attempt. A failure, for example on a full disk, is only logged: the intention itself is
   * journaled, and the next start tries it again.
   */
  #saveOutcome(intention: Intention): void {
    try {
      this.#options.journal.intentions.save(intention)
    } catch (error) {
      this.#options.log.error({ path: intention.path, error }, 'the state of a change could not be journaled')
    }
  }
}

/** Kind of a failure: the log counts failures of one kind together. */
function kindOf(error: unknown): string {
  if (error instanceof ApiError) return String(error.status)
  if (error instanceof NetworkError) return error.kind
  return error instanceof Error ? error.name : 'error'
}

function goesBelowItsSource({ kind, path, source }: Intention): boolean {
  return kind === 'put' && source !== undefined && source !== path && isAtOrUnder(path, source)
}
