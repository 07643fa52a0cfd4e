// Waiting jobs, the line for a free slot, and the alarm for those that only time keeps back. A waiting job is never
// overlooked: it is held, refused, stands behind something older, or the alarm is set for it (`starved`). Knows
// nothing of what running means: it is given a function.

import PQueue from 'p-queue'
import type { Clock, Timer } from '../../world/clock.ts'
import { Alarm } from './alarm.ts'
import type { Job } from './job.ts'
import type { PathOrder } from './path-order.ts'
import { Turns } from './turns.ts'

/** The service is away; a person asked for it. */
export type PauseReason = 'away' | 'asked'

export interface ScheduleOptions {
  readonly order: PathOrder
  readonly clock: Clock
  /** Jobs that may be under way at once, as things are. */
  atOnce(): number
  /** Never rejects. */
  run(job: Job): Promise<void>
}

export class Schedule {
  readonly #options: ScheduleOptions
  readonly #order: PathOrder
  readonly #clock: Clock
  readonly #turns: Turns
  /** Jobs that are neither in line nor running: what `look` has to look at. */
  readonly #waiting = new Set<Job>()
  /** The line for a free slot. */
  readonly #line: PQueue
  readonly #inLine = new Set<Job>()
  readonly #alarm: Alarm
  readonly #pauses = new Set<PauseReason>()
  /** A look that is about to be taken. */
  #soon: Timer | undefined
  #isClosed = false

  constructor(options: ScheduleOptions) {
    this.#options = options
    this.#order = options.order
    this.#clock = options.clock
    this.#turns = new Turns(options.order, options.clock)
    this.#line = new PQueue({ concurrency: options.atOnce() })
    this.#alarm = new Alarm(this.#clock, () => this.look())
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Answers what undoes it. */
  setWaiting(job: Job, isWaiting: boolean): () => void {
    const was = this.#waiting.has(job)
    const set = (is: boolean): void => void (is ? this.#waiting.add(job) : this.#waiting.delete(job))
    set(isWaiting)
    return () => {
      set(was)
      this.lookSoon()
    }
  }

  /** Something was submitted just now: what rests rests on. */
  submitted(): void {
    this.#turns.submitted()
  }

  /**
   * A new job: only what it stands behind, and itself, may have something to do now. Looking at all that wait would cost the
   * square of them.
   */
  offer(job: Job): void {
    job.isUnreachable = this.#turns.isPaused
    if (this.#isClosed) return
    if (this.#turns.runBlockersNow(job)) {
      this.look()
      return
    }
    if (!this.#waiting.has(job)) return
    if (!this.#turns.mayGo(job)) {
      for (const older of this.#turns.inTheWayOf(job)) this.offer(older)
      return
    }
    const due = this.#turns.dueAt(job)
    if (due <= this.#clock.steady()) this.#lineUp(job)
    else this.#alarm.set(due)
  }

  /** Several jobs that end in one turn are followed by one look at what they made way for. */
  lookSoon(): void {
    if (!this.#isClosed) this.#soon ??= this.#clock.setImmediate(() => this.look())
  }

  /** Lines up everything whose turn it is, and sets the alarm for what has to wait. */
  look(): void {
    this.#clock.clear(this.#soon)
    this.#soon = undefined
    if (this.#isClosed) return
    for (const job of this.#waiting) job.blocksFolder = false
    while (this.#hurryAncestors()) {
      // A job whose quiet time was ended because it stands in the way of another may have one in its own way.
    }
    this.#alarm.clear()
    const now = this.#clock.steady()
    for (const job of this.#waiting) {
      if (!this.#turns.mayGo(job)) continue
      const due = this.#turns.dueAt(job)
      if (due > now) this.#alarm.set(due)
      else this.#lineUp(job)
    }
  }

  /** Begins no job until `goOn` for the same reason; a call that waits for one hears of it at once. */
  pause(why: PauseReason): void {
    this.#pauses.add(why)
    if (this.#turns.isPaused) return
    this.#turns.isPaused = true
    for (const job of this.#order.all()) {
      if (job.isRunning) continue
      job.isUnreachable = true
      job.announce()
    }
  }

  isPausedBy(why: PauseReason): boolean {
    return this.#pauses.has(why)
  }

  /** Jobs that waited go on at once, unless there is another reason. */
  goOn(why: PauseReason): void {
    this.#pauses.delete(why)
    if (!this.#turns.isPaused || this.#pauses.size > 0) return
    this.#turns.isPaused = false
    for (const job of this.#order.all()) {
      job.isUnreachable = false
      if (job.intention.attempts > 0) job.runNow()
    }
    this.look()
  }

  /** Jobs that nobody would ever look at again. There are none, after any event: a queue left alone becomes empty. */
  starved(): Job[] {
    if (this.#isClosed || this.#soon !== undefined) return []
    return [...this.#order.all()].filter((job) => {
      if (job.isRunning || this.#inLine.has(job)) return false
      if (!this.#waiting.has(job)) return true
      return this.#turns.mayGo(job) && this.#turns.dueAt(job) < this.#alarm.at
    })
  }

  /** Begins nothing more. Resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#clock.clear(this.#soon)
    this.#alarm.clear()
    for (const job of this.#order.all())
      job.controller?.abort(new DOMException('the mount ends', 'AbortError'))
    await this.#line.onIdle()
  }

  /** Ends the quiet time of what others wait for, and finds what has to give way. True when there was any. */
  #hurryAncestors(): boolean {
    let isAny = false
    for (const job of this.#waiting) isAny = this.#turns.runBlockersNow(job) || isAny
    return isAny
  }

  #lineUp(job: Job): void {
    this.#waiting.delete(job)
    this.#inLine.add(job)
    this.#line.concurrency = this.#options.atOnce()
    void this.#line.add(() => this.#itsTurn(job))
  }

  async #itsTurn(job: Job): Promise<void> {
    this.#inLine.delete(job)
    // Much may have happened while it stood in line.
    if (!this.#order.has(job) || this.#isClosed) return
    if (!this.#turns.mayGo(job)) {
      this.#waiting.add(job)
      this.lookSoon()
      return
    }
    await this.#options.run(job)
    // Before another takes the slot.
    this.#line.concurrency = this.#options.atOnce()
  }
}
