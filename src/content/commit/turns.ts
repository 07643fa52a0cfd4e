// When it is a job's turn: nothing older concerns its paths, nobody holds it, the service is there, and its time has come.

import type { Clock } from '../../world/clock.ts'
import { pathsOf } from '../intention.ts'
import type { Job } from './job.ts'
import type { PathOrder } from './path-order.ts'

/** Quiet time after which a program that submitted much is taken to be done (ms). */
const quietMs = 100
/** A resting job is sent after so long beyond its own rest, however much comes. */
const longestQuietMs = 1_000

export class Turns {
  /** It is nobody's turn. */
  isPaused = false
  readonly #order: PathOrder
  readonly #clock: Clock
  #lastSubmitAt = 0

  constructor(order: PathOrder, clock: Clock) {
    this.#order = order
    this.#clock = clock
  }

  /** Something was submitted just now: what rests rests on. */
  submitted(): void {
    this.#lastSubmitAt = this.#clock.steady()
  }

  /**
   * A job that rests before it is first sent rests on while more is submitted, for a moment: a program that copies or
   * deletes many files is done sooner, and what is still here may become part of a newer change.
   */
  dueAt({ dueAt, isDeferred }: Job): number {
    return isDeferred
      ? Math.max(dueAt, Math.min(this.#lastSubmitAt + quietMs, dueAt + longestQuietMs))
      : dueAt
  }

  /** True when nothing but time keeps it from running. */
  mayGo(job: Job): boolean {
    const isWanted = !job.intention.isRefused || this.#isInTheWay(job)
    return !this.isPaused && !job.isHeld && isWanted && this.#order.isFirst(job)
  }

  /** Jobs that stand in the way of this one, and give way since they do. */
  *inTheWayOf(job: Job): Iterable<Job> {
    for (const path of pathsOf(job.intention)) {
      const older = this.#order.at(path)[0]
      if (older !== undefined && older !== job && this.#isInTheWay(older)) yield older
    }
  }

  /** Ends the quiet time of what this job waits for, and finds what has to give way to it. True when there was any. */
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

  /** Older jobs of what stands, or stood, where this one wants a folder, and of what keeps that from being removed. */
  *#olderAround(job: Job): Iterable<Job> {
    for (const path of pathsOf(job.intention)) {
      const above = this.#order.olderAbove(job, path)
      if (above !== undefined) yield above
    }
    const prune = this.#order.olderPrune(job)
    if (prune === undefined) return
    yield prune
    // Away, nothing gives way: it is looked for again when the service is back.
    if (!this.isPaused) yield* this.#order.refusedBefore(prune)
  }

  /** It is refused, and something newer is wanted, or listed, where it came from, or wanted under that. */
  #isInTheWay(job: Job): boolean {
    if (!mayGiveWay(job)) return false
    const { path, source = path } = job.intention
    return job.blocksFolder || job.isSourceReplaced || (source !== path && this.#order.at(source).length > 1)
  }
}

/** True for a refused job that shows no document at the path it keeps others from. */
function mayGiveWay({ intention: { isRefused, kind, path, source = path } }: Job): boolean {
  return isRefused && (kind === 'prune' || source !== path)
}
