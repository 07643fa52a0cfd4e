// The commit queue decides when each intention runs: in order per path, several at once, repeated after failures until it
// succeeds. The work itself is done by the function `run` of its options.
//
//   submitted ─► waiting ─► in line ─► running ─► done
//                  ▲                      │
//                  ├─ backoff ◄───────────┤ temporary failure (without limit)
//                  ├─ held ◄──────────────┤ its content is being written again (until a newer job is behind it)
//                  └─ refused ◄───────────┘ 4xx (until a retry, or a newer job comes; a move whose source a newer job
//                                             waits for gives the source up: its content comes into the spool, and
//                                             the document there is deleted if a folder is wanted in its place)
//
// `intake` merges a new intention with older ones, `open-jobs` keeps memory and journal in step, `schedule` picks the next
// job, `attempts` runs it, and `outcomes` updates the jobs behind it.

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
import { Schedule, type PauseReason, type Wait } from './schedule.ts'

export interface CommitQueueOptions extends AttemptOptions {
  /** Uploads and deletes under way at once. Default 8. */
  readonly concurrency?: number
  /** Returns how many jobs, of at most `most`, should run at once at present. Default: `most`. */
  readonly atOnce?: (most: number) => number
  readonly clock: Clock
}

/** Jobs that `fulfilled` ends in one go: about ten milliseconds of work. */
const fulfilledPerBatch = 100

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

  /** Unfinished jobs that concern this path itself, oldest first. */
  jobsAt(path: string): readonly Job[] {
    return this.#order.at(path)
  }

  /** The newest unfinished job whose target is this path. */
  find(path: string): Job | undefined {
    return this.#order.at(path).findLast((job) => job.intention.path === path)
  }

  /** The oldest unfinished job that concerns this path: the only one that may be under way there. */
  first(path: string): Job | undefined {
    return this.#order.at(path)[0]
  }

  /** True where another intention than `except` is still to remove the document that stands, or arrives, at this path. */
  isToBeEmptied(path: string, except?: Intention): boolean {
    return this.#order.at(path).some(({ intention }) => intention !== except && empties(intention, path))
  }

  /** True where this path lies in a folder still to be removed: the service has only old content at it and below. */
  isOfFormerFolder(path: string): boolean {
    return this.#order.hasPruneAbove(path)
  }

  /** True where a job puts a document at this path, and no newer one removes it from there. */
  isExpected(path: string): boolean {
    const isDecided = ({ intention }: Job): boolean => intention.path === path || empties(intention, path)
    const last = this.#order.at(path).findLast(isDecided)
    return last?.intention.kind === 'put' && last.intention.path === path
  }

  /** Deletes under a folder that were never sent, and are alone at their paths: one recursive delete may replace them. */
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

  /** The held or refused job that this prune waits for, which does not go on automatically; undefined for other kinds. */
  stopperOf(job: Job): Job | undefined {
    return job.intention.kind === 'prune' ? this.#order.stoppedBefore(job) : undefined
  }

  /** The reason why the job waits: `dueAt` (ms, steady clock) is its time, `older` the change that goes first. */
  waitOf(job: Job): { readonly for: Wait; readonly dueAt: number; readonly older: Intention | undefined } {
    const wait = this.#schedule.waitOf(job)
    return { ...wait, older: wait.for === 'older' ? this.#order.olderThan(job)?.intention : undefined }
  }

  /** Jobs that nothing would ever start again. There must be none after any event. */
  starved(): Job[] {
    return this.#schedule.starved()
  }

  /** Continues with the unfinished intentions of an earlier run. */
  resume(intentions: readonly Intention[]): void {
    for (const intention of intentions) {
      const job = new Job(intention)
      const { isRefused, errorErrno, lastError } = intention
      if (isRefused) job.error = new ErrnoError(errorErrno ?? 'EIO', lastError ?? 'refused by the service')
      const waitMs = intention.notBefore - this.#clock.wall()
      // A wait longer than the longest means that the clock was set meanwhile: then it is due now.
      if (waitMs > 0 && waitMs <= longestWaitMs(intention.attempts)) job.dueAt = this.#clock.steady() + waitMs
      this.#open.enter(job)
    }
    // The earlier run may have ended before refused jobs gave way.
    const refused = [...this.#order.all()].filter(({ intention }) => intention.isRefused)
    for (const job of refused) this.#attempts.yieldToNewer(job)
    this.#schedule.check()
  }

  /**
   * Journals a change and queues it. It survives a kill once this returns, and a power cut once the journal's `durable`
   * resolves. Returns undefined where nothing is left to do.
   */
  submit(draft: IntentionDraft): Job | undefined {
    const { journal } = this.#options
    const job = journal.transaction(() => {
      this.#schedule.submitted()
      return this.#intake.accept(draft)
    })
    // Only after the row is committed: this may be part of a larger transaction.
    if (job !== undefined) journal.afterCommit(() => this.#schedule.offer(job))
    return job
  }

  /** See `OpenJobs.withdraw`. */
  withdraw(job: Job, options?: { seesToDoubts: boolean }): boolean {
    return this.#open.withdraw(job, options)
  }

  /** See `OpenJobs.mayWithdraw`. */
  mayWithdraw(job: Job): boolean {
    return this.#open.mayWithdraw(job)
  }

  /** Stops sending the job's content, which is being written again; the next submit for its path takes over. */
  hold(job: Job): void {
    this.#open.hold(job)
  }

  /** See `OpenJobs.release`. */
  release(job: Job): void {
    this.#open.release(job)
  }

  /** Ends the quiet time or backoff of the jobs that match, and retries refused ones where asked. Returns how many. */
  runNow(matches: (intention: Intention) => boolean, options?: { refusedToo: boolean }): number {
    let count = 0
    for (const job of this.#order.all()) {
      const { intention } = job
      if (!matches(intention) || (intention.isRefused && options?.refusedToo !== true)) continue
      job.runNow()
      intention.isRefused = false
      count++
    }
    this.#schedule.check()
    return count
  }

  /** Called when another document is listed at this path, the source of a refused move: that asks the service, and gives way. */
  foundAt(path: string): void {
    const job = this.first(path)
    if (job === undefined || job.isSourceReplaced || !canRecognizeSource(job.intention, path)) return
    job.isSourceReplaced = true
    this.#schedule.checkSoon()
  }

  /** Refuses a job that can never be sent as it is: it waits for the user, like one that the service refused. */
  refuse(job: Job, error: unknown): void {
    this.#attempts.refuse(job, error)
  }

  /** Starts no job until `goOn` with the same reason, and wakes the calls that wait for one. Jobs that run end as usual. */
  pause(reason: PauseReason = 'away'): void {
    this.#schedule.pause(reason)
  }

  isPausedBy(reason: PauseReason): boolean {
    return this.#schedule.isPausedBy(reason)
  }

  /** Runs waiting jobs at once, unless the queue is paused for another reason, too. */
  goOn(reason: PauseReason = 'away'): void {
    this.#schedule.goOn(reason)
  }

  /**
   * Starts no job at this path or below it until the returned function is called: a DELETE of the folder deletes all
   * that it finds there.
   */
  keepOut(folder: string): () => void {
    const open = this.#order.close(folder)
    return () => {
      open()
      this.#schedule.checkSoon()
    }
  }

  /** Ends jobs whose work the DELETE of their folder has done. Jobs that run by now are left to end as usual. */
  async fulfilled(jobs: readonly Job[]): Promise<void> {
    for (let at = 0; at < jobs.length; at += fulfilledPerBatch) {
      // Other work gets a turn between two batches.
      if (at > 0) await new Promise<void>((resolve) => this.#clock.setImmediate(resolve))
      const batch = jobs.slice(at, at + fulfilledPerBatch).filter((job) => this.#order.has(job) && job.isIdle)
      this.#options.journal.transaction(() => {
        for (const job of batch) this.#outcomes.done(job, undefined)
      })
      for (const job of batch) job.announce()
    }
    this.#schedule.checkSoon()
  }

  /** Stops: running attempts are aborted, and their intentions stay journaled. */
  async close(): Promise<void> {
    this.#attempts.close()
    await this.#schedule.close()
  }
}

/**
 * True for a refused move from this path that can tell its own document there from another: by its fingerprint, or, if a
 * save there was refused and has none, by the digests of the content sent.
 */
function canRecognizeSource(
  { isRefused, path, source, sourceFingerprint, sentDigests, keepSource, errorErrno }: Intention,
  at: string,
): boolean {
  const isMove = source === at && path !== at && keepSource !== true
  const isKnown = sourceFingerprint !== undefined || sentDigests.length > 0
  return isRefused && isMove && (isKnown || errorErrno === 'ENOENT')
}
