// One attempt of one job, and what follows: an outcome, or it is put off, or refused. A job that is not at its end waits again.

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

/** How long what could not make way, for want of room in the journal, stays where it is (ms). */
const yieldAgainMs = 10_000

export interface AttemptOptions {
  readonly journal: Journal
  readonly log: Log
  readonly chance: Chance
  readonly ask: Pick<Questions, 'materialize' | 'errnoOf'>
  run(intention: Intention, signal: AbortSignal): Promise<RemoteFile | undefined>
  /** Takes away what a refused move was to take away, since its content is here. */
  deleteSource(intention: Intention, signal: AbortSignal): Promise<void>
  /** True if another document stands where a refused move was to take one away. */
  isSourceReplaced(intention: Intention, signal: AbortSignal): Promise<boolean>
  /**
   * Told of every turn an intention takes, before anybody waiting is told: inside the journal transaction that takes it, but for
   * `refused`. The service's word holds whether or not the journal can take it, so a listener to that journals nothing.
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
  /** Jobs that could not make way. */
  readonly #inTheWay = new Set<Job>()
  #yieldAgain: Timer | undefined

  constructor(options: AttemptOptions, parts: AttemptParts) {
    this.#options = options
    this.#parts = parts
    this.#log = new CountedLog(options.log, parts.clock)
  }

  /** Never rejects: a job that does not come to its end waits again. */
  async run(job: Job): Promise<void> {
    const { clock, outcomes } = this.#parts
    const { intention } = job
    const now = clock.steady()
    job.controller = new AbortController()
    job.isUnreachable = false
    job.isDeferred = false
    intention.attempts++
    intention.replacesUndurableRow = this.#options.journal.ended.mayResurface(
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
        await this.#makeRoom(job, signal)
      } else {
        const record = await this.#options.run(intention, signal)
        // Content written while its last bytes were on the way: what the service has is an older state of it.
        if (job.isHeld) outcomes.contentSuperseded(job, record)
        else outcomes.done(job, record)
      }
    } catch (error) {
      this.#failed(job, error)
    }
    // In the same turn as what it ended with: nobody finds it overlooked.
    this.#ended(job)
  }

  /** A refused job that keeps something newer from going on. */
  async #unblock(job: Job, signal: AbortSignal): Promise<void> {
    const { order, intake, outcomes } = this.#parts
    const { intention } = job
    if (intention.kind === 'prune') return intake.cancel(job)
    const { isSourceReplaced } = job
    job.isSourceReplaced = false
    if (isSourceReplaced && !job.blocksFolder && order.at(intention.source ?? '').length === 1)
      return this.#leaveToOthers(job, signal)
    // Only a folder is to take the place of what stands there.
    const isFolder = intention.source !== undefined && order.at(intention.source).length === 1
    await this.#bringHere(job, { isSourceLeft: isFolder }, signal)
    if (!isFolder) return
    try {
      await this.#options.deleteSource(intention, signal)
    } catch (error) {
      // It stays: what is newer hears of it.
      if (isWorthRetrying(error)) throw error
    }
    outcomes.moveDetached(job, {}, { isSourceLeft: false })
  }

  /** A document that goes into a folder of its own former name: its content comes here, so that it can be gone from there first. */
  async #makeRoom(job: Job, signal: AbortSignal): Promise<void> {
    await this.#bringHere(job, { isSourceLeft: true }, signal)
    await this.#options.deleteSource(job.intention, signal)
    this.#parts.outcomes.moveDetached(job, {}, { isSourceLeft: false })
  }

  /** Its content comes here, and goes with it. `isSourceLeft`: what stands at its source is still its own to take away. */
  async #bringHere(job: Job, how: { isSourceLeft: boolean }, signal: AbortSignal): Promise<void> {
    const take = (content: CarriedContent): void => this.#parts.outcomes.moveDetached(job, content, how)
    await this.#options.ask.materialize(job.intention, take, signal)
  }

  /** A listing shows another document where it came from, and may lag behind: only what stands there makes it leave that. */
  async #leaveToOthers(job: Job, signal: AbortSignal): Promise<void> {
    const { intention } = job
    if (!(await this.#options.isSourceReplaced(intention, signal))) return
    await this.#bringHere(job, { isSourceLeft: false }, signal)
  }

  /**
   * A job that did not come to its end makes way for what is behind it. Never throws: what the journal cannot take is
   * tried again.
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
    schedule.lookSoon()
  }

  close(): void {
    this.#parts.clock.clear(this.#yieldAgain)
    this.#log.close()
  }

  /** The same for one that is idle, and would fail with this if it were tried. */
  refuse(job: Job, error: unknown): void {
    this.#failed(job, error)
    this.#ended(job)
  }

  #ended(job: Job): void {
    const { order, open, schedule } = this.#parts
    job.controller = undefined
    if (order.has(job)) {
      schedule.setWaiting(job, true)
      this.yieldToNewer(job)
      // A newer job for which it was stopped waits for it all the same.
      if (order.has(job) && order.at(job.intention.path).at(-1) !== job) open.release(job)
    }
    // The job that is first by now may have been refused while it stood behind this.
    for (const path of pathsOf(job.intention)) {
      const first = order.at(path)[0]
      if (first?.intention.isRefused === true) this.yieldToNewer(first)
    }
    job.announce()
    schedule.lookSoon()
  }

  #failed(job: Job, error: unknown): void {
    const { clock, schedule } = this.#parts
    const { intention } = job
    if (schedule.isClosed || job.isHeld) return
    if (intention.isRefused) {
      // It could not give way yet, and is refused for what it was refused for.
      job.dueAt = clock.steady() + backoffMs(intention.attempts, error, this.#options.chance)
      return
    }
    job.error = error
    intention.errorErrno = this.#options.ask.errnoOf(error)
    // A service may echo a signature or a key in what it says.
    intention.lastError = redact(withoutErrno(error instanceof Error ? error.message : String(error)))
    job.isUnreachable =
      error instanceof NetworkError && (error.kind === 'unreachable' || error.kind === 'away')
    if (isWorthRetrying(error)) this.#putOff(job, error)
    else this.#refused(intention, error)
    if (this.#parts.order.has(job)) this.#note(intention)
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
   * The outcome of an attempt is worth noting, but not worth a crash: without room for it the intention itself is still
   * there, and the next start asks again.
   */
  #note(intention: Intention): void {
    try {
      this.#options.journal.intentions.save(intention)
    } catch (error) {
      this.#options.log.error({ path: intention.path, error }, 'the state of a change could not be journaled')
    }
  }
}

/** Kind of a failure: those of one kind are counted as the same in the log. */
function kindOf(error: unknown): string {
  if (error instanceof ApiError) return String(error.status)
  if (error instanceof NetworkError) return error.kind
  return error instanceof Error ? error.name : 'error'
}

function goesBelowItsSource({ kind, path, source }: Intention): boolean {
  return kind === 'put' && source !== undefined && source !== path && isAtOrUnder(path, source)
}
