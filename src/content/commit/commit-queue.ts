// Decides when each intention runs: per path in order, several at once, again after failures for as long as it takes.
// Knows nothing of what running means: it is given a function.
//
//   submitted ─► waiting ─► in line ─► running ─► done
//                  ▲                      │
//                  ├─ backoff ◄───────────┤ temporary failure (for ever)
//                  ├─ held ◄──────────────┤ its content is being written again (until something newer is behind it)
//                  └─ refused ◄───────────┘ 4xx (until retry, or until something newer comes; a move whose source
//                                             something newer waits for gives that way: it keeps its content here,
//                                             and what stands there goes where a folder is wanted)
//
// `intake` decides what becomes of what was submitted before, `open-jobs` keeps memory and journal alike, `schedule` says
// who runs next, `attempts` runs it, and `outcomes` says what follows for those that come after it.

import type { Clock } from '../../world/clock.ts'
import { ErrnoError } from '../../errno-error.ts'
import { empties, isDoubtful, type Intention, type IntentionDraft } from '../intention.ts'
import { Attempts, type AttemptOptions } from './attempts.ts'
import { longestWaitMs } from './backoff.ts'
import { Intake } from './intake.ts'
import { Job } from './job.ts'
import { OpenJobs } from './open-jobs.ts'
import { Outcomes } from './outcomes.ts'
import { PathOrder } from './path-order.ts'
import type { QueueEvent } from './queue-event.ts'
import { Schedule, type PauseReason } from './schedule.ts'

export interface CommitQueueOptions extends AttemptOptions {
  /** Uploads and deletes under way at once. Default 8. */
  readonly concurrency?: number
  /** How many of so many should be under way as things are. Default: all. */
  readonly atOnce?: (most: number) => number
  readonly clock: Clock
}

/** Some ten milliseconds' work. */
const fulfilledAtOnce = 100

export class CommitQueue {
  readonly #options: CommitQueueOptions
  readonly #clock: Clock
  readonly #order = new PathOrder()
  readonly #schedule: Schedule
  readonly #open: OpenJobs
  readonly #intake: Intake
  readonly #outcomes: Outcomes
  readonly #attempts: Attempts

  constructor(options: CommitQueueOptions) {
    const { journal, clock, concurrency = 8, atOnce = (most) => most } = options
    const order = this.#order
    this.#options = options
    this.#clock = clock
    this.#schedule = new Schedule({
      order,
      clock,
      atOnce: () => atOnce(concurrency),
      run: (job) => this.#attempts.run(job),
    })
    this.#open = new OpenJobs({ journal, clock, order, schedule: this.#schedule })
    const parts = { order, clock, open: this.#open, schedule: this.#schedule }
    const say = (event: QueueEvent): void => options.say(event)
    this.#intake = new Intake({ ...parts, journal, say })
    this.#outcomes = new Outcomes({ ...parts, journal, say })
    this.#attempts = new Attempts(options, { ...parts, intake: this.#intake, outcomes: this.#outcomes })
  }

  /** Unfinished jobs, oldest first. */
  jobs(): Iterable<Job> {
    return this.#order.all()
  }

  /** Unfinished jobs that concern this path or anything under it. */
  jobsUnder(path: string): Job[] {
    return this.#order.under(path)
  }

  /** The newest unfinished job whose target is this path. */
  find(path: string): Job | undefined {
    return this.#order.at(path).findLast((job) => job.intention.path === path)
  }

  /** The oldest unfinished job that concerns this path: the only one that may be under way there. */
  first(path: string): Job | undefined {
    return this.#order.at(path)[0]
  }

  /** True where what stands, or arrives, at this path is still to be taken away from there, by another intention than `except`. */
  isToBeEmptied(path: string, except?: Intention): boolean {
    return this.#order.at(path).some(({ intention }) => intention !== except && empties(intention, path))
  }

  /** True where what the service has at this path, and below, is of a folder that is still to be removed: nothing newer is there yet. */
  isOfFormerFolder(path: string): boolean {
    return this.#order.hasPruneAbove(path)
  }

  /** True where something is on its way to this path that nothing newer takes away from there. */
  isExpected(path: string): boolean {
    const isDecided = ({ intention }: Job): boolean => intention.path === path || empties(intention, path)
    const last = this.#order.at(path).findLast(isDecided)
    return last?.intention.kind === 'put' && last.intention.path === path
  }

  /** Deletes under a folder that were never sent and stand alone for their paths: what one recursive delete may do for all. */
  untriedDeletes(folder: string): Job[] {
    return this.jobsUnder(folder).filter(
      (job) =>
        job.isIdle &&
        job.intention.kind === 'delete' &&
        job.intention.attempts === 0 &&
        !isDoubtful(job.intention) &&
        this.#order.at(job.intention.path).length === 1,
    )
  }

  /** The job that this one waits for, and that does not go on automatically. */
  stopperOf(job: Job): Job | undefined {
    return job.intention.kind === 'prune' ? this.#order.stoppedBefore(job) : undefined
  }

  /** Jobs that nobody would ever look at again: there are none, after any event. */
  starved(): Job[] {
    return this.#schedule.starved()
  }

  /** Takes up the open intentions of an earlier run. */
  resume(intentions: readonly Intention[]): void {
    for (const intention of intentions) {
      const job = new Job(intention)
      const { isRefused, errorErrno, lastError } = intention
      if (isRefused) job.error = new ErrnoError(errorErrno ?? 'EIO', lastError ?? 'refused by the service')
      const waitMs = intention.notBefore - this.#clock.wall()
      // A clock that was set meanwhile set none of this: no wait was ever longer than the longest.
      if (waitMs > 0 && waitMs <= longestWaitMs(intention.attempts)) job.dueAt = this.#clock.steady() + waitMs
      this.#open.enter(job)
    }
    // It ended before what was refused had made way.
    const refused = [...this.#order.all()].filter(({ intention }) => intention.isRefused)
    for (const job of refused) this.#attempts.yieldToNewer(job)
    this.#schedule.look()
  }

  /**
   * Journals what is wanted and sends it in its turn. It survives a kill when this returns, a power cut once the journal's
   * `durable` resolves. Undefined where nothing is left to do.
   */
  submit(draft: IntentionDraft): Job | undefined {
    const { journal } = this.#options
    const job = journal.transaction(() => {
      this.#schedule.submitted()
      return this.#intake.accept(draft)
    })
    // Never before the row is there: this may be part of a larger transaction.
    if (job !== undefined) journal.afterCommit(() => this.#schedule.offer(job))
    return job
  }

  /** See `OpenJobs.withdraw`. */
  withdraw(job: Job, options?: { seesToDoubts: boolean }): boolean {
    return this.#open.withdraw(job, options)
  }

  mayWithdraw(job: Job): boolean {
    return this.#open.mayWithdraw(job)
  }

  /** The job's content is being written again: stops sending it; the next submit for its path takes over. */
  hold(job: Job): void {
    this.#open.hold(job)
  }

  release(job: Job): void {
    this.#open.release(job)
  }

  /** Runs now what waits for its quiet time or backoff, refusals included where asked. Answers how many. */
  runNow(isMeant: (intention: Intention) => boolean, options?: { refusedToo: boolean }): number {
    let count = 0
    for (const job of this.#order.all()) {
      const { intention } = job
      if (!isMeant(intention) || (intention.isRefused && options?.refusedToo !== true)) continue
      job.runNow()
      intention.isRefused = false
      count++
    }
    this.#schedule.look()
    return count
  }

  /** Another document than the one that was to be moved is listed where that stood: a refused move looks, and makes way for it. */
  foundAt(path: string): void {
    const job = this.first(path)
    if (job === undefined || job.isSourceReplaced || !mayBeAnothers(job.intention, path)) return
    job.isSourceReplaced = true
    this.#schedule.lookSoon()
  }

  /** It can never be sent as it is: waits for the person, as what the service refuses. */
  refuse(job: Job, error: unknown): void {
    this.#attempts.refuse(job, error)
  }

  /** Nothing is begun until `goOn` for the same reason, and whoever waits hears of it at once. What is under way ends. */
  pause(why: PauseReason = 'away'): void {
    this.#schedule.pause(why)
  }

  isPausedBy(why: PauseReason): boolean {
    return this.#schedule.isPausedBy(why)
  }

  /** Waiting jobs go on at once, unless there is another reason. */
  goOn(why: PauseReason = 'away'): void {
    this.#schedule.goOn(why)
  }

  /**
   * Begins no job at this path or below it until the function it answers is called: a DELETE of the folder takes all
   * that it finds there.
   */
  keepOut(folder: string): () => void {
    const open = this.#order.close(folder)
    return () => {
      open()
      this.#schedule.lookSoon()
    }
  }

  /** Another call did what these jobs are for. Those that are under way by now end by themselves. */
  async fulfilled(jobs: readonly Job[]): Promise<void> {
    for (let at = 0; at < jobs.length; at += fulfilledAtOnce) {
      // Between two batches everybody else has a turn.
      if (at > 0) await new Promise<void>((resolve) => this.#clock.setImmediate(resolve))
      const batch = jobs.slice(at, at + fulfilledAtOnce).filter((job) => this.#order.has(job) && job.isIdle)
      this.#options.journal.transaction(() => {
        for (const job of batch) this.#outcomes.done(job, undefined)
      })
      for (const job of batch) job.announce()
    }
    this.#schedule.lookSoon()
  }

  /** Stops: what is under way is cut off and stays journaled. */
  async close(): Promise<void> {
    this.#attempts.close()
    await this.#schedule.close()
  }
}

/**
 * A refused move that was to take a version from this path, of which it can be told whether another stands there.
 * Content of a save that was refused there may have been stored: it has no fingerprint, and is told by its digest.
 */
function mayBeAnothers(
  { isRefused, path, source, sourceFingerprint, sentDigests, keepSource, errorErrno }: Intention,
  at: string,
): boolean {
  const isMove = source === at && path !== at && keepSource !== true
  const isKnown = sourceFingerprint !== undefined || sentDigests.length > 0
  return isRefused && isMove && (isKnown || errorErrno === 'ENOENT')
}
