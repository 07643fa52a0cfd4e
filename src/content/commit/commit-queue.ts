// Decides when each intention runs: per path in order, several at once, again after failures for as long as it takes.
// Knows nothing of what running means: it is given a function.
//
//   submitted ─► waiting ─► in line ─► running ─► done
//                  ▲                      │
//                  ├─ backoff ◄───────────┤ temporary failure (for ever)
//                  ├─ held ◄──────────────┤ its content is being written again (until the next submit)
//                  └─ refused ◄───────────┘ 4xx (until retry, or until something newer comes; a move whose source
//                                             something newer waits for gives that way: it keeps its content here)
//
// What waits is always seen to: it is held, refused, stands behind something older, or the alarm is set for it (`overlooked`).

import PQueue from 'p-queue'
import { ApiError, NetworkError } from '../../api/errors.ts'
import type { RemoteFile } from '../../api/types.ts'
import { createClock, type Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { ErrnoError } from '../../errno-error.ts'
import { redact } from '../../redact.ts'
import { fingerprintOf } from '../fingerprint.ts'
import {
  intend,
  isDoubtful,
  isMergeable,
  merge,
  pathsOf,
  succession,
  type CarriedContent,
  type Intention,
  type IntentionDraft,
} from '../intention.ts'
import type { Journal } from '../spool/journal.ts'
import { Alarm } from './alarm.ts'
import { backoffMs, isWorthRetrying, longestWaitMs } from './backoff.ts'
import { CountedLog } from './counted-log.ts'
import { Job } from './job.ts'
import { PathOrder } from './path-order.ts'
import type { QueueEvent } from './queue-event.ts'

export interface CommitQueueOptions {
  readonly journal: Journal
  readonly log: Log
  /** Uploads and deletes under way at once. Default 8. */
  readonly concurrency?: number
  readonly clock?: Clock
  /** The errno name that callers are told of an error. */
  errnoOf(error: unknown): string
  run(intention: Intention, signal: AbortSignal): Promise<RemoteFile | undefined>
  /** Brings here what a refused move was to take away, and hands it to `take` while it stays as it is. */
  giveWay(intention: Intention, take: (content: CarriedContent) => void, signal: AbortSignal): Promise<void>
  /** Told of every turn an intention takes: inside the journal transaction that takes it, before anybody waiting is told. */
  say(event: QueueEvent): void
}

/** Nothing new for so long: whoever submitted much is done. */
const quietMs = 100
/** What rests is sent after so long beyond its own rest, however much comes. */
const longestQuietMs = 1_000
/** Some ten milliseconds' work. */
const fulfilledAtOnce = 100

export class CommitQueue {
  readonly #options: CommitQueueOptions
  readonly #clock: Clock
  readonly #order = new PathOrder()
  /** Jobs that are neither in line nor running: what `#look` has to look at. */
  readonly #waiting = new Set<Job>()
  /** The line for a free slot. */
  readonly #line: PQueue
  readonly #inLine = new Set<Job>()
  readonly #alarm: Alarm
  readonly #log: CountedLog
  /** A look that is about to be taken. */
  #soon: NodeJS.Immediate | undefined
  #lastSubmitAt = 0
  #isPaused = false
  #isClosed = false

  constructor(options: CommitQueueOptions) {
    this.#options = options
    this.#clock = options.clock ?? createClock()
    this.#log = new CountedLog(options.log)
    this.#line = new PQueue({ concurrency: options.concurrency ?? 8 })
    this.#alarm = new Alarm(this.#clock.steady, () => this.#look())
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

  /** Jobs that nobody would ever look at again. There are none, after any event: a queue left alone becomes empty. */
  overlooked(): Job[] {
    if (this.#isClosed || this.#soon !== undefined) return []
    return [...this.#order.all()].filter((job) => {
      if (job.isRunning || this.#inLine.has(job)) return false
      if (!this.#waiting.has(job)) return true
      return this.#mayGo(job) && this.#dueAt(job) < this.#alarm.at
    })
  }

  /** Takes up the open intentions of an earlier run. */
  resume(intentions: readonly Intention[]): void {
    for (const intention of intentions) {
      const job = new Job(intention)
      const { isRefused, errorErrno, lastError } = intention
      if (isRefused) job.error = new ErrnoError(errorErrno ?? 'EIO', lastError ?? 'refused by the service')
      const waitMs = intention.notBefore - this.#clock.wall()
      // Whoever set the clock meanwhile set nothing of this: no wait was ever longer than the longest.
      if (waitMs > 0 && waitMs <= longestWaitMs(intention.attempts)) job.dueAt = this.#clock.steady() + waitMs
      this.#enter(job)
    }
    this.#look()
  }

  /**
   * Journals what is wanted and sends it in its turn. It survives a kill when this returns, a power cut once the journal's
   * `durable` resolves. Undefined where nothing is left to do.
   */
  submit(draft: IntentionDraft): Job | undefined {
    const { journal } = this.#options
    const job = journal.transaction(() => this.#accept(draft))
    // Never before the row is there: this may be part of a larger transaction.
    if (job !== undefined) journal.afterCommit(() => this.#offer(job))
    return job
  }

  #accept(draft: IntentionDraft): Job | undefined {
    this.#lastSubmitAt = this.#clock.steady()
    const older = this.#mergeableWith(draft)
    if (older !== undefined) {
      const isExpected = this.#order.at(draft.path)[0] !== older
      const merged = merge(older.intention, draft, isExpected)
      return this.#succeed(older, merged === undefined ? [] : [merged])
    }
    const refused = this.#refusedBefore(draft)
    const instead = refused === undefined ? undefined : succession(refused.intention, draft)
    if (refused !== undefined && instead !== undefined) return this.#succeed(refused, instead)
    this.#letGo(draft)
    return this.#journaled(draft)
  }

  /** What was refused, and would stand in the way of this for ever. */
  #refusedBefore({ path, source }: IntentionDraft): Job | undefined {
    const at = [path, ...(source === undefined || this.#order.at(path).length > 0 ? [] : [source])]
    return at
      .map((each) => this.#order.at(each).at(-1))
      .find((job) => job?.intention.isRefused === true && job.isIdle && at.includes(job.intention.path))
  }

  /** What is held for a newer submit, and cannot be merged with it, goes first; what is being sent only to be deleted stops. */
  #letGo({ kind, path }: IntentionDraft): void {
    for (const job of this.#order.at(path)) if (job.intention.path === path) this.release(job)
    const last = this.#order.at(path).at(-1)
    const isFutile = last?.isRunning === true && last.intention.path === path && isMergeable(last.intention)
    if (kind === 'delete' && isFutile && last.intention.spool !== undefined) this.hold(last)
  }

  /** The last job of this path, if it is idle, wants this path and no other, and nothing of its past must be seen through first. */
  #mergeableWith(draft: IntentionDraft): Job | undefined {
    const last = this.#order.at(draft.path).at(-1)
    if (draft.kind === 'prune' || last === undefined || !last.isIdle) return undefined
    return last.intention.path === draft.path && isMergeable(last.intention) ? last : undefined
  }

  #succeed(older: Job, [first, ...rest]: readonly IntentionDraft[]): Job | undefined {
    const successor = first === undefined ? undefined : this.#inPlaceOf(older, first)
    if (successor === undefined) this.#drop(older)
    this.#supersede(older, successor)
    this.#options.say({ kind: 'superseded', intention: older.intention })
    // What stands at such a path by now sees to it.
    for (const draft of rest) if (this.#order.at(draft.path).length === 0) this.#journaled(draft)
    // What stood behind the older one may be first now.
    this.#lookSoon()
    return successor
  }

  /** A job that did not come to its end makes way for the one right behind it. */
  #makeWay(job: Job): void {
    const [first, second, ...more] = this.#order.at(job.intention.path)
    if (first !== job || second?.isIdle !== true || more.length > 0 || !this.#order.isLast(second)) return
    const areMergeable = isMergeable(job.intention) && isMergeable(second.intention)
    const instead =
      areMergeable || job.intention.isRefused ? succession(job.intention, second.intention) : undefined
    if (instead === undefined) return
    this.#options.journal.transaction(() => {
      this.#drop(second)
      const successor = this.#succeed(job, instead)
      this.#supersede(second, successor)
      this.#options.say({ kind: 'replaced', intention: second.intention, successor })
    })
  }

  /** A move comes after everything that is still on its way to its source: it keeps no older place but its own. */
  #inPlaceOf(older: Job, draft: IntentionDraft): Job {
    const before = pathsOf(older.intention)
    if (pathsOf(draft).every((path) => before.includes(path))) return this.#putInPlace(older, draft)
    this.#drop(older)
    return this.#journaled(draft)
  }

  #putInPlace(place: Job, draft: IntentionDraft): Job {
    const job = this.#jobOf(place.intention.id, draft)
    this.#follow(this.#order.replace(place, job))
    this.#setWaiting(place, false)
    this.#setWaiting(job, true)
    return job
  }

  #journaled(draft: IntentionDraft): Job {
    const job = this.#jobOf(this.#options.journal.nextId(), draft)
    this.#enter(job)
    return job
  }

  #jobOf(id: number, draft: IntentionDraft): Job {
    const job = new Job(intend(id, draft, this.#clock.wall()))
    this.#options.journal.saveIntention(job.intention)
    job.isResting = (draft.restMs ?? 0) > 0
    job.dueAt = this.#clock.steady() + (draft.restMs ?? 0)
    return job
  }

  #enter(job: Job): void {
    this.#follow(this.#order.add(job))
    this.#setWaiting(job, true)
  }

  #drop(job: Job): void {
    this.#options.journal.removeIntention(job.intention.id)
    this.#follow(this.#order.remove(job))
    this.#setWaiting(job, false)
  }

  /** Memory has followed the journal: should the transaction fail, it goes back. */
  #follow(undo: () => void): void {
    this.#options.journal.onRollback(undo)
  }

  #setWaiting(job: Job, isWaiting: boolean): void {
    const was = this.#waiting.has(job)
    if (isWaiting) this.#waiting.add(job)
    else this.#waiting.delete(job)
    this.#follow(() => {
      if (was) this.#waiting.add(job)
      else this.#waiting.delete(job)
      this.#lookSoon()
    })
  }

  /** Whoever waits for the one waits for the other. */
  #supersede(job: Job, successor: Job | undefined): void {
    this.#options.journal.afterCommit(() => {
      job.successor = successor
      job.isDone = successor === undefined
      job.announce()
    })
  }

  /** Takes an idle job back as if it had never been asked for. False when it is under way or may have been stored. */
  withdraw(job: Job): boolean {
    const { intention } = job
    // The answer to a delete that was tried may have been lost.
    if (intention.kind === 'delete' && intention.attempts > 0) return false
    if (!this.#order.has(job) || !job.isIdle || isDoubtful(intention) || intention.isProven) return false
    // What waits behind it was meant to find its work done.
    if (!this.#order.isLast(job)) return false
    this.#options.journal.transaction(() => this.#drop(job))
    this.#supersede(job, undefined)
    this.#lookSoon()
    return true
  }

  /** The job's content is being written again: stops sending it; the next submit for its path takes over. */
  hold(job: Job): void {
    const { intention } = job
    job.isHeld = true
    if (intention.isProven && intention.spool !== undefined) {
      // What was proven is not what the spool holds from now on.
      intention.isProven = false
      this.#options.journal.saveIntention(intention)
    }
    job.controller?.abort(new DOMException('its content is being written again', 'AbortError'))
  }

  release(job: Job): void {
    if (!job.isHeld) return
    job.isHeld = false
    this.#lookSoon()
  }

  /** Runs now what waits for its quiet time or backoff, refusals included where asked. Answers how many. */
  expedite(isMeant: (intention: Intention) => boolean, options?: { refusedToo: boolean }): number {
    let count = 0
    for (const job of this.#order.all()) {
      const { intention } = job
      if (!isMeant(intention) || (intention.isRefused && options?.refusedToo !== true)) continue
      hasten(job)
      intention.isRefused = false
      count++
    }
    this.#look()
    return count
  }

  /** The service is away: nothing is begun until `goOn`, and whoever waits hears of it at once. */
  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    for (const job of this.#order.all()) {
      if (job.isRunning) continue
      job.isUnreachable = true
      job.announce()
    }
  }

  /** The service is back: what waits for it goes on at once. */
  goOn(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    for (const job of this.#order.all()) {
      job.isUnreachable = false
      if (job.intention.attempts > 0) hasten(job)
    }
    this.#look()
  }

  /** A new job: only what it stands behind, and itself, may have something to do now. Looking at all that wait would cost the square of them. */
  #offer(job: Job): void {
    job.isUnreachable = this.#isPaused
    if (this.#isClosed) return
    if (this.#hurry(job)) {
      this.#look()
      return
    }
    if (!this.#waiting.has(job)) return
    if (!this.#mayGo(job)) {
      for (const path of pathsOf(job.intention)) {
        const older = this.first(path)
        if (older !== undefined && older !== job && this.#isInTheWay(older)) this.#offer(older)
      }
      return
    }
    const due = this.#dueAt(job)
    if (due <= this.#clock.steady()) this.#lineUp(job)
    else this.#alarm.set(due)
  }

  /**
   * What rests before it is first sent rests on while more is submitted, for a moment: a program that copies or deletes
   * many files is done sooner, and what is still here may become part of a newer change.
   */
  #dueAt({ dueAt, isResting }: Job): number {
    return isResting ? Math.max(dueAt, Math.min(this.#lastSubmitAt + quietMs, dueAt + longestQuietMs)) : dueAt
  }

  /** True when nothing but time keeps it from running. */
  #mayGo(job: Job): boolean {
    const isWanted = !job.intention.isRefused || this.#isInTheWay(job)
    return !this.#isPaused && !job.isHeld && isWanted && this.#order.isFirst(job)
  }

  /** A refused move, and something newer is wanted at its source. */
  #isInTheWay({ intention: { isRefused, path, source } }: Job): boolean {
    return isRefused && source !== undefined && source !== path && this.#order.at(source).length > 1
  }

  /** Several jobs that end in one turn are followed by one look at what they made way for. */
  #lookSoon(): void {
    if (!this.#isClosed) this.#soon ??= setImmediate(() => this.#look())
  }

  /** Lines up everything whose turn it is, and sets the alarm for what has to wait. */
  #look(): void {
    clearImmediate(this.#soon)
    this.#soon = undefined
    if (this.#isClosed) return
    while (this.#hurryAncestors()) {
      // What was waiting for its quiet time and stands in somebody's way may have somebody in its own.
    }
    this.#alarm.clear()
    const now = this.#clock.steady()
    for (const job of this.#waiting) {
      if (!this.#mayGo(job)) continue
      const due = this.#dueAt(job)
      if (due > now) this.#alarm.set(due)
      else this.#lineUp(job)
    }
  }

  /** Ends the quiet time of what others wait for. True when there was any. */
  #hurryAncestors(): boolean {
    let isAny = false
    for (const job of this.#waiting) isAny = this.#hurry(job) || isAny
    return isAny
  }

  #hurry(job: Job): boolean {
    let isAny = false
    for (const path of pathsOf(job.intention)) {
      const above = this.#order.olderAbove(job, path)
      if (above?.isResting !== true) continue
      hasten(above)
      isAny = true
    }
    return isAny
  }

  #lineUp(job: Job): void {
    this.#waiting.delete(job)
    this.#inLine.add(job)
    void this.#line.add(() => this.#run(job))
  }

  async #run(job: Job): Promise<void> {
    const { intention } = job
    this.#inLine.delete(job)
    // Much may have happened while it stood in line.
    if (!this.#order.has(job) || this.#isClosed) return
    if (!this.#mayGo(job)) {
      this.#waiting.add(job)
      this.#lookSoon()
      return
    }
    const now = this.#clock.steady()
    job.controller = new AbortController()
    job.isUnreachable = false
    job.isResting = false
    intention.attempts++
    job.firstTriedAt ??= now
    intention.triedForMs = now - job.firstTriedAt
    try {
      const { signal } = job.controller
      if (intention.isRefused) {
        await this.#options.giveWay(intention, (content) => this.#gaveWay(job, content), signal)
      } else {
        const record = await this.#options.run(intention, signal)
        // Content written while its last bytes were on the way: what the service has is an older state of it.
        if (job.isHeld) this.#adjust(job, record)
        else this.#finish(job, record)
      }
    } catch (error) {
      this.#failed(job, error)
    }
    job.controller = undefined
    if (this.#order.has(job)) {
      this.#waiting.add(job)
      this.#makeWay(job)
      // What it was stopped for waits for it all the same.
      if (this.#order.has(job) && this.#order.at(intention.path).at(-1) !== job) this.release(job)
    }
    job.announce()
    this.#lookSoon()
  }

  /** It takes nothing away any more, and waits as it did: what stands at its source is for what is newer there. */
  #gaveWay(job: Job, content: CarriedContent): void {
    const { intention } = job
    const { source, sourceFingerprint, spool, size, digest, isRefused } = intention
    this.#options.journal.transaction(() => {
      this.#follow(() =>
        Object.assign(intention, { source, sourceFingerprint, spool, size, digest, isRefused }),
      )
      if (source !== undefined) this.#follow(this.#order.leave(job, source))
      Object.assign(intention, { source: undefined, sourceFingerprint: undefined, ...content })
      // Nothing was left of it but its source.
      if (intention.isProven) intention.isRefused = false
      this.#options.journal.saveIntention(intention)
      this.#options.say({ kind: 'gaveWay', intention })
    })
    this.#lookSoon()
  }

  /** What stands at these paths may be another client's by now: each is looked at before it is deleted. */
  distrust(jobs: readonly Job[]): void {
    // Not journaled: after a restart everything is in doubt.
    for (const { intention } of jobs) intention.isInDoubt = true
  }

  /** Another call did what these jobs are for. Those that are under way by now end by themselves. */
  async fulfilled(jobs: readonly Job[]): Promise<void> {
    for (let at = 0; at < jobs.length; at += fulfilledAtOnce) {
      // Between two batches everybody else has a turn.
      if (at > 0) await new Promise((resolve) => setImmediate(resolve))
      const batch = jobs.slice(at, at + fulfilledAtOnce).filter((job) => this.#order.has(job) && job.isIdle)
      this.#options.journal.transaction(() => {
        for (const job of batch) this.#finish(job, undefined)
      })
      for (const job of batch) job.announce()
    }
    this.#lookSoon()
  }

  #finish(job: Job, record: RemoteFile | undefined): void {
    const { journal } = this.#options
    try {
      journal.transaction(() => {
        this.#drop(job)
        this.#rebase(job.intention.path, record)
        this.#options.say({ kind: 'done', intention: job.intention, record })
        journal.afterCommit(() => (job.isDone = true))
      })
    } catch (error) {
      // The service has it, and the journal does not say so: what is found there next time is our own.
      job.intention.isInDoubt = true
      throw error
    }
  }

  /** Later intentions for this path now stand on what was just stored. */
  #rebase(path: string, record: RemoteFile | undefined): void {
    const fingerprint = record === undefined ? undefined : fingerprintOf(record)
    for (const { intention } of this.#order.at(path)) {
      const { base, sourceFingerprint } = intention
      this.#follow(() => Object.assign(intention, { base, sourceFingerprint }))
      if (intention.path === path) intention.base = fingerprint
      else intention.sourceFingerprint = fingerprint
      this.#options.journal.saveIntention(intention)
    }
  }

  /** Nothing is left of it but to put the newer content over what was just stored. */
  #adjust(job: Job, record: RemoteFile | undefined): void {
    const { intention } = job
    this.#options.journal.transaction(() => {
      this.#options.say({ kind: 'outpaced', intention, record })
      if (intention.source !== undefined && intention.source !== intention.path)
        this.#order.leave(job, intention.source)
      intention.source = undefined
      intention.sourceFingerprint = undefined
      intention.isProven = false
      this.#rebase(intention.path, record)
    })
  }

  #failed(job: Job, error: unknown): void {
    const { intention } = job
    if (this.#isClosed || job.isHeld) return
    if (intention.isRefused) {
      // It could not give way yet, and is refused for what it was refused for.
      job.dueAt = this.#clock.steady() + backoffMs(intention.attempts, error)
      return
    }
    job.error = error
    intention.errorErrno = this.#options.errnoOf(error)
    // A service may echo a signature or a key in what it says.
    intention.lastError = redact(error instanceof Error ? error.message : String(error))
    job.isUnreachable =
      error instanceof NetworkError && (error.kind === 'unreachable' || error.kind === 'away')
    if (isWorthRetrying(error)) {
      const waitMs = backoffMs(intention.attempts, error)
      job.dueAt = this.#clock.steady() + waitMs
      intention.notBefore = this.#clock.wall() + waitMs
      const { path, attempts, lastError } = intention
      this.#log.warn(kindOf(error), { path, attempts, error: lastError }, 'not sent yet, trying again')
    } else {
      intention.isRefused = true
      this.#options.log.error(
        { path: intention.path, error: intention.lastError },
        'refused by the service; the content is kept here',
      )
      this.#options.say({ kind: 'refused', intention, error })
    }
    if (this.#order.has(job)) this.#note(intention)
  }

  /** How an attempt went is worth noting, but not worth a crash: without room for it the intention itself is still there. */
  #note(intention: Intention): void {
    try {
      this.#options.journal.saveIntention(intention)
    } catch (error) {
      this.#options.log.error({ path: intention.path, error }, 'the state of a change could not be journaled')
    }
  }

  /** Stops: what is under way is cut off and stays journaled. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearImmediate(this.#soon)
    this.#alarm.clear()
    this.#log.close()
    for (const job of this.#order.all())
      job.controller?.abort(new DOMException('the mount ends', 'AbortError'))
    await this.#line.onIdle()
  }
}

/** What makes two failures the same for whoever reads the log. */
function kindOf(error: unknown): string {
  if (error instanceof ApiError) return String(error.status)
  if (error instanceof NetworkError) return error.kind
  return error instanceof Error ? error.name : 'error'
}

/** It rests, or waits for its next attempt, no longer. */
function hasten(job: Job): void {
  job.isResting = false
  job.dueAt = 0
  job.intention.notBefore = 0
}
