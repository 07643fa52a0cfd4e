// The unfinished jobs, in memory as in the journal: each change here belongs to the journal's transaction under way, and is
// undone where that fails.

import type { Clock } from '../../world/clock.ts'
import { intend, isDoubtful, pathsOf, type IntentionDraft } from '../intention.ts'
import type { Journal } from '../spool/journal.ts'
import { Job } from './job.ts'
import type { PathOrder } from './path-order.ts'
import type { Schedule } from './schedule.ts'

export interface OpenJobsOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly order: PathOrder
  readonly schedule: Schedule
}

export class OpenJobs {
  readonly #order: PathOrder
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #schedule: Schedule

  constructor({ journal, clock, order, schedule }: OpenJobsOptions) {
    this.#order = order
    this.#journal = journal
    this.#clock = clock
    this.#schedule = schedule
  }

  /** A new job for what is wanted, behind everything else. */
  journaled(draft: IntentionDraft): Job {
    const job = this.#jobOf(this.#journal.intentions.nextId(), draft)
    this.enter(job)
    return job
  }

  /** A job whose row is there. */
  enter(job: Job): void {
    this.follow(this.#order.add(job))
    this.follow(this.#schedule.setWaiting(job, true))
  }

  /** A new job with the id, and in the place, of another. */
  putInPlace(place: Job, draft: IntentionDraft): Job {
    this.#ended(place)
    const job = this.#jobOf(place.intention.id, draft)
    this.follow(this.#order.replace(place, job))
    this.follow(this.#schedule.setWaiting(place, false))
    this.follow(this.#schedule.setWaiting(job, true))
    return job
  }

  drop(job: Job): void {
    this.#ended(job)
    this.#journal.intentions.remove(job.intention.id)
    this.follow(this.#order.remove(job))
    this.follow(this.#schedule.setWaiting(job, false))
  }

  /** It finds this version at the path, where nothing is known to have come there: that one was seen here. */
  standOn({ intention }: Job, path: string, fingerprint: string | undefined): void {
    const { base, sourceFingerprint } = intention
    this.follow(() => Object.assign(intention, { base, sourceFingerprint }))
    if (intention.path === path) intention.base ??= fingerprint
    else intention.sourceFingerprint ??= fingerprint
    this.#journal.intentions.save(intention)
  }

  /** It takes nothing away any more: what stands at its source is for what is newer there. The caller saves its row. */
  leaveSource(job: Job): void {
    const { intention } = job
    const { source, sourceFingerprint } = intention
    if (source === undefined) return
    this.#journal.ended.ended([source], undefined)
    if (source !== intention.path) this.follow(this.#order.leave(job, source))
    this.follow(() => Object.assign(intention, { source, sourceFingerprint }))
    Object.assign(intention, { source: undefined, sourceFingerprint: undefined })
  }

  /** A call that waits for the one waits for the other; undefined: there is nothing left to wait for. */
  supersede(job: Job, successor: Job | undefined): void {
    this.#journal.afterCommit(() => {
      job.successor = successor
      job.isDone = successor === undefined
      job.announce()
    })
  }

  /**
   * Takes an idle job back as if it had never been asked for. False when it is under way or may have been stored; also where an
   * earlier change may have left something at its path, unless the caller sees to those `sentDigests`.
   */
  withdraw(job: Job, how: { seesToDoubts?: boolean } = {}): boolean {
    if (!this.mayWithdraw(job, how)) return false
    this.#journal.transaction(() => this.drop(job))
    this.supersede(job, undefined)
    this.#schedule.lookSoon()
    return true
  }

  /** The answer that `withdraw` would give now. */
  mayWithdraw(job: Job, { seesToDoubts = false }: { seesToDoubts?: boolean } = {}): boolean {
    const { intention } = job
    if (intention.sentDigests.length > 0 && !seesToDoubts) return false
    // The answer to a delete that was tried may have been lost.
    if (intention.kind === 'delete' && intention.attempts > 0) return false
    if (!this.#order.has(job) || !job.isIdle || this.#mayBeStored(job)) return false
    // A job that waits behind it was meant to find its work done.
    return this.#order.isLast(job)
  }

  /** The job's content is being written again: stops sending it; the next submit for its path takes over. */
  hold(job: Job): void {
    job.isHeld = true
    job.controller?.abort(new DOMException('its content is being written again', 'AbortError'))
    job.announce()
  }

  release(job: Job): void {
    if (!job.isHeld) return
    job.isHeld = false
    this.#schedule.lookSoon()
  }

  /** Memory has followed the journal: should the transaction fail, it goes back. */
  follow(undo: () => void): void {
    this.#journal.onRollback(undo)
  }

  /** A job behind something older at a path of its own was never under way, also not in an earlier run. */
  #mayBeStored(job: Job): boolean {
    const { intention } = job
    const hadItsTurn = pathsOf(intention).every((path) => this.#order.at(path)[0] === job)
    return hadItsTurn && (isDoubtful(intention) || intention.isCopied)
  }

  #ended({ intention }: Job): void {
    this.#journal.ended.ended(pathsOf(intention), intention.spool)
  }

  #jobOf(id: number, draft: IntentionDraft): Job {
    const job = new Job(intend(id, draft, this.#clock.wall()))
    this.#journal.intentions.save(job.intention)
    job.isDeferred = (draft.deferMs ?? 0) > 0
    job.dueAt = this.#clock.steady() + (draft.deferMs ?? 0)
    return job
  }
}
