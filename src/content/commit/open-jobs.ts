// The unfinished jobs, in memory and in the journal. Each change here belongs to the current transaction of the journal, and
// is undone in memory if that fails.

import type { Clock } from '../../world/clock.ts'
import { intend, isDoubtful, pathsOf, type Intention, type IntentionDraft } from '../intention.ts'
import type { Journal } from '../spool/journal.ts'
import { onRollback } from '../spool/transaction-steps.ts'
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

  /** Journals a draft as a new job, behind all others. */
  journaled(draft: IntentionDraft): Job {
    const job = this.#jobOf(this.#journal.intentions.nextId(), draft)
    this.enter(job)
    return job
  }

  /** Adds a job whose row is in the journal. */
  enter(job: Job): void {
    this.#order.add(job)
    this.#schedule.setWaiting(job, true)
  }

  /** Replaces a job by a new one with the same id, and so the same place in the order. */
  putInPlace(place: Job, draft: IntentionDraft): Job {
    this.#ended(place)
    const job = this.#jobOf(place.intention.id, draft)
    this.#order.replace(place, job)
    this.#schedule.setWaiting(place, false)
    this.#schedule.setWaiting(job, true)
    return job
  }

  /** Removes a job and its row. Calls that wait for it are left to `supersede`. */
  drop(job: Job): void {
    this.#ended(job)
    this.#journal.intentions.remove(job.intention.id)
    this.#order.remove(job)
    this.#schedule.setWaiting(job, false)
  }

  /** Makes this version, which was seen here, the one that the job may replace at the path, or move from it, if it has none. */
  standOn({ intention }: Job, path: string, fingerprint: string | undefined): void {
    const { base = fingerprint, sourceFingerprint = fingerprint } = intention
    change(intention, intention.path === path ? { base } : { sourceFingerprint })
    this.#journal.intentions.save(intention)
  }

  /** Makes a move leave its source to newer jobs, so that it deletes nothing there. The caller saves its row. */
  leaveSource(job: Job): void {
    const { intention } = job
    const { source } = intention
    if (source === undefined) return
    this.#journal.undurableDeletes.noteDeleted([source], undefined)
    if (source !== intention.path) this.#order.leave(job, source)
    change(intention, { source: undefined, sourceFingerprint: undefined })
  }

  /** Makes calls that wait for the job wait for its successor; undefined: the job is done. */
  supersede(job: Job, successor: Job | undefined): void {
    this.#journal.afterCommit(() => {
      job.successor = successor
      job.isDone = successor === undefined
      job.announce()
    })
  }

  /**
   * Removes an idle job as if it had never been submitted. False if it is running or may have been stored; also if an earlier
   * change may have left something at its path, unless the caller takes care of its `sentDigests` (`seesToDoubts`).
   */
  withdraw(job: Job, options: { seesToDoubts?: boolean } = {}): boolean {
    if (!this.mayWithdraw(job, options)) return false
    this.#journal.transaction(() => this.drop(job))
    this.supersede(job, undefined)
    this.#schedule.checkSoon()
    return true
  }

  /** True where `withdraw` would succeed now. */
  mayWithdraw(job: Job, { seesToDoubts = false }: { seesToDoubts?: boolean } = {}): boolean {
    const { intention } = job
    if (intention.sentDigests.length > 0 && !seesToDoubts) return false
    // A delete that was tried may have been carried out, its answer lost.
    if (intention.kind === 'delete' && intention.attempts > 0) return false
    if (!this.#order.has(job) || !job.isIdle || this.#mayBeStored(job)) return false
    // A job that waits behind it expects its work to be done.
    return this.#order.isLast(job)
  }

  /** Stops sending the job's content, which is being written again; the next submit for its path takes over. */
  hold(job: Job): void {
    job.isHeld = true
    job.controller?.abort(new DOMException('its content is being written again', 'AbortError'))
    job.announce()
  }

  /** Lets a held job run with the content it has. */
  release(job: Job): void {
    if (!job.isHeld) return
    job.isHeld = false
    this.#schedule.checkSoon()
  }

  /** True where the service may have the change. A job behind an older one at any of its paths never ran, nor in an earlier run. */
  #mayBeStored(job: Job): boolean {
    const { intention } = job
    const isFirst = pathsOf(intention).every((path) => this.#order.at(path)[0] === job)
    return isFirst && (isDoubtful(intention) || intention.isCopied)
  }

  /** Notes that its row goes (see `UndurableDeletes`). */
  #ended({ intention }: Job): void {
    this.#journal.undurableDeletes.noteDeleted(pathsOf(intention), intention.spool)
  }

  #jobOf(id: number, draft: IntentionDraft): Job {
    const job = new Job(intend(id, draft, this.#clock.wall()))
    this.#journal.intentions.save(job.intention)
    job.isDeferred = (draft.deferMs ?? 0) > 0
    job.dueAt = this.#clock.steady() + (draft.deferMs ?? 0)
    return job
  }
}

/** Sets these fields of an intention. */
export function change(intention: Intention, fields: Partial<Intention>): void {
  const before = Object.keys(fields).map((name) => [name, intention[name as keyof Intention]])
  onRollback(() => void Object.assign(intention, Object.fromEntries(before)))
  Object.assign(intention, fields)
}
