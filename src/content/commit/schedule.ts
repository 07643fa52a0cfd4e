// Waiting jobs, the line for a free slot, and the alarm for jobs that only wait for their time. No waiting job is ever
// forgotten: it is held, refused, behind an older one, or the alarm is set for it (`starved` checks this). The work itself
// is done by the function `run` of the options.

import PQueue from 'p-queue'
import type { Clock, Timer } from '../../world/clock.ts'
import { onRollback } from '../spool/transaction-steps.ts'
import { Alarm } from './alarm.ts'
import type { Job } from './job.ts'
import type { PathOrder } from './path-order.ts'
import { Turns, type Hold } from './turns.ts'

/** Reason for a pause of the queue: the service is away, or a person asked for it (`docmount pause`). */
export type PauseReason = 'away' | 'asked'

/** `nothing`: it is under way. */
export type Wait = Hold | 'time' | 'slot' | 'nothing'

export interface ScheduleOptions {
  readonly order: PathOrder
  readonly clock: Clock
  /** Number of jobs that may run at once at present. */
  atOnce(): number
  /** Never rejects. */
  run(job: Job): Promise<void>
}

export class Schedule {
  readonly #options: ScheduleOptions
  readonly #order: PathOrder
  readonly #clock: Clock
  readonly #turns: Turns
  /** Jobs that are neither in line nor running, which `check` goes through. */
  readonly #waiting = new Set<Job>()
  /** The line for a free slot: jobs whose turn and time have come. */
  readonly #line: PQueue
  readonly #inLine = new Set<Job>()
  readonly #alarm: Alarm
  readonly #pauses = new Set<PauseReason>()
  /** The call of `check` that is due at the end of this tick. */
  #soon: Timer | undefined
  #isClosed = false

  constructor(options: ScheduleOptions) {
    this.#options = options
    this.#order = options.order
    this.#clock = options.clock
    this.#turns = new Turns(options.order, options.clock)
    this.#line = new PQueue({ concurrency: options.atOnce() })
    this.#alarm = new Alarm(this.#clock, () => this.check())
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  setWaiting(job: Job, isWaiting: boolean): void {
    const was = this.#waiting.has(job)
    onRollback(() => {
      this.setWaiting(job, was)
      this.checkSoon()
    })
    if (isWaiting) this.#waiting.add(job)
    else this.#waiting.delete(job)
  }

  /** Called at each submit: jobs in their quiet time wait on. */
  submitted(): void {
    this.#turns.submitted()
  }

  /**
   * Lines up a new job, or sets the alarm for it. Only the job itself and those it stands behind are checked: checking all
   * waiting jobs at each submit would take quadratic time.
   */
  offer(job: Job): void {
    // Paused, it will not run now: a close need not wait for it.
    job.isUnreachable = this.#turns.isPaused
    if (this.#isClosed) return
    if (this.#turns.runBlockersNow(job)) {
      this.check()
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

  /** Calls `check` once at the end of this tick, however many jobs end in it. */
  checkSoon(): void {
    if (!this.#isClosed) this.#soon ??= this.#clock.setImmediate(() => this.check())
  }

  /** Lines up all jobs whose turn it is, and sets the alarm for those that wait for their time. */
  check(): void {
    this.#clock.clear(this.#soon)
    this.#soon = undefined
    if (this.#isClosed) return
    for (const job of this.#waiting) job.blocksFolder = false
    while (this.#runAllBlockersNow()) {
      // A job whose quiet time was ended because it blocks another may itself be blocked by one.
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

  /** Starts no job until `goOn` with the same reason, and wakes the calls that wait for one. */
  pause(reason: PauseReason): void {
    this.#pauses.add(reason)
    if (this.#turns.isPaused) return
    this.#turns.isPaused = true
    for (const job of this.#order.all()) {
      if (job.isRunning) continue
      job.isUnreachable = true
      job.announce()
    }
  }

  isPausedBy(reason: PauseReason): boolean {
    return this.#pauses.has(reason)
  }

  /** Runs waiting jobs at once, unless the queue is paused for another reason, too. */
  goOn(reason: PauseReason): void {
    this.#pauses.delete(reason)
    if (!this.#turns.isPaused || this.#pauses.size > 0) return
    this.#turns.isPaused = false
    for (const job of this.#order.all()) {
      job.isUnreachable = false
      if (job.intention.attempts > 0) job.runNow()
    }
    this.check()
  }

  /** The reason why the job waits; `time`: until `dueAt` (ms, steady clock); `slot`: as many are under way as may be. */
  waitOf(job: Job): { readonly for: Wait; readonly dueAt: number } {
    const hold = job.isRunning ? 'nothing' : this.#turns.holdOf(job)
    const dueAt = this.#turns.dueAt(job)
    return { for: hold ?? (dueAt > this.#clock.steady() ? 'time' : 'slot'), dueAt }
  }

  /** Jobs that nothing would ever start again. There must be none after any event, so that a queue left alone becomes empty. */
  starved(): Job[] {
    if (this.#isClosed || this.#soon !== undefined) return []
    return [...this.#order.all()].filter((job) => {
      if (job.isRunning || this.#inLine.has(job)) return false
      if (!this.#waiting.has(job)) return true
      return this.#turns.mayGo(job) && this.#turns.dueAt(job) < this.#alarm.at
    })
  }

  /** Starts nothing more, and aborts running jobs. Resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#clock.clear(this.#soon)
    this.#alarm.clear()
    for (const job of this.#order.all())
      job.controller?.abort(new DOMException('the mount ends', 'AbortError'))
    await this.#line.onIdle()
  }

  /** Calls `runBlockersNow` for every waiting job. True where that changed any. */
  #runAllBlockersNow(): boolean {
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
    // Its state may have changed while it was in line.
    if (!this.#order.has(job) || this.#isClosed) return
    if (!this.#turns.mayGo(job)) {
      this.#waiting.add(job)
      this.checkSoon()
      return
    }
    await this.#options.run(job)
    // Updated before the next job takes the slot.
    this.#line.concurrency = this.#options.atOnce()
  }
}
