// Turns: a job may run when no older one concerns its paths, it is not held or refused, the queue is not paused, and its time has
// come. A refused one runs only to give way to a newer one (see `attempts.ts`). Changes only flags and times of jobs.

import type { Clock } from '../../world/clock.ts'
import { pathsOf } from '../intention.ts'
import type { Job } from './job.ts'
import type { PathOrder } from './path-order.ts'

/** Time without a submit after which a program that submits many changes is taken to be done (ms). */
const quietMs = 100
/** Longest time that further submits can delay a job beyond its own delay (ms). */
const longestQuietMs = 1_000

/**
 * - `pause`: the queue is paused.
 * - `writing`: its content is being written; the next submit takes over.
 * - `refused`: the service refused it, and a person decides.
 * - `older`: an older change concerns its paths.
 */
export type Hold = 'pause' | 'writing' | 'refused' | 'older'

export class Turns {
  /** True while the queue is paused: no job may run. */
  isPaused = false
  readonly #order: PathOrder
  readonly #clock: Clock
  #lastSubmitAt = 0

  constructor(order: PathOrder, clock: Clock) {
    this.#order = order
    this.#clock = clock
  }

  /** Called at each submit: jobs in their quiet time wait on. */
  submitted(): void {
    this.#lastSubmitAt = this.#clock.steady()
  }

  /**
   * Time at which the job is due (ms, steady clock). A delayed first attempt waits on while more is submitted, for a moment: a
   * program that copies or deletes many files is done sooner, and a change not sent yet may be merged with a newer one.
   */
  dueAt({ dueAt, isDeferred }: Job): number {
    return isDeferred
      ? Math.max(dueAt, Math.min(this.#lastSubmitAt + quietMs, dueAt + longestQuietMs))
      : dueAt
  }

  /** True where the job waits for nothing but its time. */
  mayGo(job: Job): boolean {
    return this.holdOf(job) === undefined
  }

  /** The reason why the job waits, other than its time. */
  holdOf(job: Job): Hold | undefined {
    if (this.isPaused) return 'pause'
    if (job.isHeld) return 'writing'
    if (job.intention.isRefused && !this.#isInTheWay(job)) return 'refused'
    return this.#order.isFirst(job) ? undefined : 'older'
  }

  /** Refused jobs that block this one, and so may run to give way. */
  *inTheWayOf(job: Job): Iterable<Job> {
    for (const path of pathsOf(job.intention)) {
      const older = this.#order.at(path)[0]
      if (older !== undefined && older !== job && this.#isInTheWay(older)) yield older
    }
  }

  /** Ends the quiet time of jobs that this one waits for, and marks refused ones that have to give way. True if there was any. */
  runBlockersNow(job: Job): boolean {
    let isAny = false
    for (const older of this.#olderAround(job)) {
      if (older.isDeferred) older.runNow()
      else if (mayGiveWay(older) && !older.blocksFolder) older.blocksFolder = true
      else continue
      isAny = true
    }
    return isAny
  }

  /** Older jobs at paths where this one needs a folder, the prune of such a folder, and the refused jobs that prune waits for. */
  *#olderAround(job: Job): Iterable<Job> {
    for (const path of pathsOf(job.intention)) {
      const above = this.#order.olderAbove(job, path)
      if (above !== undefined) yield above
    }
    const prune = this.#order.olderPrune(job)
    if (prune === undefined) return
    yield prune
    // While the service is away nothing can give way; this is repeated when it is back.
    if (!this.isPaused) yield* this.#order.refusedBefore(prune)
  }

  /** True for a refused job that a newer one waits for, or whose source is listed as another document. */
  #isInTheWay(job: Job): boolean {
    if (!mayGiveWay(job)) return false
    const { path, source = path } = job.intention
    return job.blocksFolder || job.isSourceReplaced || (source !== path && this.#order.at(source).length > 1)
  }
}

/** True for a refused job that can give up a path without a document shown there: a prune, or a move's source. */
function mayGiveWay({ intention: { isRefused, kind, path, source = path } }: Job): boolean {
  return isRefused && (kind === 'prune' || source !== path)
}
