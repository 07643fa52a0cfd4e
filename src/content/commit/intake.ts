// Intake of new intentions: each is merged with an older one for its path, takes its place, or is queued behind it. Two saves of
// `f` become one; a save behind one that is being sent waits, and takes its place if that fails. All changes belong to the
// current transaction of the journal.

import { withDigest } from '../digest.ts'
import { isMergeable, merge, pathsOf, succession, type IntentionDraft } from '../intention.ts'
import type { Journal } from '../spool/journal.ts'
import type { Job } from './job.ts'
import type { OpenJobs } from './open-jobs.ts'
import type { PathOrder } from './path-order.ts'
import type { QueueEvent } from './queue-event.ts'
import type { Schedule } from './schedule.ts'

export interface IntakeOptions {
  readonly journal: Journal
  readonly order: PathOrder
  readonly open: OpenJobs
  readonly schedule: Schedule
  say(event: QueueEvent): void
}

export class Intake {
  readonly #options: IntakeOptions
  readonly #order: PathOrder
  readonly #open: OpenJobs

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#order = options.order
    this.#open = options.open
  }

  /** Returns the job for this change; undefined where nothing is left to do. */
  accept(submitted: IntentionDraft): Job | undefined {
    const draft = this.#adoptReplacedVersion(submitted)
    this.#releaseHeld(draft)
    const pending = this.#pendingPrune(draft)
    if (pending !== undefined) return pending
    const older = this.#mergeableWith(draft)
    if (older !== undefined) {
      const merged = merge(older.intention, draft, this.#isExpectedBefore(older))
      return this.#pastRefused(this.#succeed(older, merged))
    }
    return this.#pastRefused(this.#open.journaled(draft))
  }

  /**
   * Lets a put replace the version at its path if a move from there, with its content in the spool, was to delete that: after
   * `f` → `g` and a new `f`, the move only uploads `g`, neither job waits for the other, and each name has one change.
   */
  #adoptReplacedVersion(draft: IntentionDraft): IntentionDraft {
    const { kind, path } = draft
    const leaving = this.#order.at(path).at(-1)
    if (kind !== 'put' || leaving === undefined || !this.#mayLeave(leaving, path)) return draft
    const { sourceFingerprint, sentDigests } = leaving.intention
    this.#open.leaveSource(leaving)
    this.#options.journal.intentions.save(leaving.intention)
    // The move may be first at all of its paths now.
    this.#options.journal.afterCommit(() => this.#options.schedule.checkSoon())
    return {
      ...draft,
      base: draft.base ?? sourceFingerprint,
      sentDigests: (draft.sentDigests ?? []).reduce(withDigest, sentDigests),
    }
  }

  /** True for a move that was to delete the version at this path, and need not if a newer put replaces it. */
  #mayLeave(job: Job, at: string): boolean {
    const { path, source, spool, keepSource, isCopied, isRefused } = job.intention
    const isMove = source === at && path !== at && keepSource !== true
    if (!isMove || spool === undefined || !job.isIdle || isCopied || isRefused) return false
    // A newer change above waits until the path is empty, so the version there still has to go.
    return !this.#order.isOvertakenAbove(job, at)
  }

  /** Makes a job that is not done give way to the one right behind it, if both can become one. Called after each attempt. */
  yieldToNewer(job: Job): void {
    const { intention } = job
    const [first, second] = this.#order.at(intention.path)
    if (first !== job || !job.isIdle || second?.isIdle !== true) return
    if (intention.isRefused) return void this.#yieldRefused(job, second)
    if (this.#order.isOvertakenAbove(job) || !isMergeable(intention) || !isMergeable(second.intention)) return
    const instead = succession(intention, second.intention)
    // The order of other jobs must not change, so none may stand behind the second.
    if (instead === undefined || !this.#order.isLast(second, intention.path)) return
    this.#options.journal.transaction(() => {
      this.#open.drop(second)
      const successor = this.#succeed(job, instead[0])
      this.#open.supersede(second, successor)
      this.#options.say({ kind: 'replaced', intention: second.intention, successor })
    })
  }

  /** Makes a refused job that would block this new one for ever give way at once. Returns the job as which the new one goes on. */
  #pastRefused(job: Job | undefined): Job | undefined {
    let current = job
    for (const path of job === undefined ? [] : pathsOf(job.intention)) {
      const [first, second] = this.#order.at(path)
      const isInTheWay = first?.intention.isRefused === true && first.isIdle && first.intention.path === path
      if (isInTheWay && current !== undefined && second === current)
        current = this.#yieldRefused(first, current)
    }
    return current
  }

  /** Makes a refused job give way, even if more jobs stand behind the second. Returns the job as which the second goes on. */
  #yieldRefused(job: Job, second: Job): Job | undefined {
    const { path, base } = job.intention
    const instead = succession(job.intention, second.intention)
    if (instead === undefined || this.#isSourceReplaced(job, instead)) return second
    const [first, ...rest] = instead
    return this.#options.journal.transaction(() => {
      const [place, other] = this.#isOlderPlace(job, second, first) ? [job, second] : [second, job]
      if (first === undefined) this.#open.drop(place)
      const successor = first === undefined ? undefined : this.#open.putInPlace(place, first)
      for (const each of [job, second]) this.#open.supersede(each, successor)
      // A path with other jobs by now is left to them.
      const left = rest.find((draft) => this.#order.at(draft.path).every((at) => at === other))
      // It keeps the other's place in the order: a newer job may remove its folder, or put a document in the folder's place.
      if (left === undefined) this.#open.drop(other)
      else this.#open.putInPlace(other, left)
      this.#options.say({ kind: 'superseded', intention: job.intention })
      this.#options.say({ kind: 'replaced', intention: second.intention, successor })
      const next = this.#order.at(path)[0]
      if (next !== undefined && next !== successor) this.#open.standOn(next, path, base)
      this.#options.schedule.checkSoon()
      return successor
    })
  }

  /** True where the draft must take the refused job's older place: it empties that job's source, before newer changes there. */
  #isOlderPlace(job: Job, second: Job, draft: IntentionDraft | undefined): boolean {
    const { path, source = path } = job.intention
    if (source === path || draft === undefined) return false
    if (draft.kind === 'delete') return draft.path === source
    if (draft.source !== source || !this.#order.isOvertakenAbove(job, source)) return false
    // It must not if it has to wait for an older job at or above its target.
    const isAwaited = this.#order.olderAbove(second, draft.path) ?? this.#order.olderPrune(second)
    return isAwaited === undefined
  }

  /** Removes a job that is not wanted any more. */
  cancel(job: Job): void {
    this.#options.journal.transaction(() => this.#succeed(job, undefined))
  }

  /** True where a newer document has come to the move's source, and would be moved instead: the move must give way there first. */
  #isSourceReplaced({ intention: { path, source } }: Job, [draft]: readonly IntentionDraft[]): boolean {
    return (
      source !== undefined && source !== path && draft?.source === source && this.#order.at(source).length > 1
    )
  }

  /**
   * Releases held jobs that this change waits for: the close they wait for may come late, or never if their document is
   * moved on. Stops an upload of a document that this change deletes.
   */
  #releaseHeld(draft: IntentionDraft): void {
    const { journal } = this.#options
    const { kind, path } = draft
    for (const at of pathsOf(draft))
      for (const job of this.#order.at(at)) journal.afterCommit(() => this.#open.release(job))
    const last = this.#order.at(path).at(-1)
    const isFutile = last?.isRunning === true && last.intention.path === path && isMergeable(last.intention)
    if (kind === 'delete' && isFutile && last.intention.spool !== undefined)
      journal.afterCommit(() => this.#open.hold(last))
  }

  /** The prune of the same folder that is already queued, if nothing was changed in the folder since. */
  #pendingPrune({ kind, path }: IntentionDraft): Job | undefined {
    const last = kind === 'prune' ? this.#order.under(path).at(-1) : undefined
    if (last === undefined || !last.isIdle || last.intention.isRefused) return undefined
    return last.intention.kind === 'prune' && last.intention.path === path ? last : undefined
  }

  /** True where the job right before this one puts a document at its path. */
  #isExpectedBefore(job: Job): boolean {
    const jobs = this.#order.at(job.intention.path)
    return jobs[jobs.indexOf(job) - 1]?.intention.kind === 'put'
  }

  /** The last job at the draft's path, if the draft may be merged into it: it is idle, for this path only, and not overtaken. */
  #mergeableWith(draft: IntentionDraft): Job | undefined {
    const last = this.#order.at(draft.path).at(-1)
    if (draft.kind === 'prune' || last === undefined || !last.isIdle) return undefined
    if (this.#order.isOvertakenAbove(last)) return undefined
    return last.intention.path === draft.path && isMergeable(last.intention) ? last : undefined
  }

  /** Replaces a job by a draft (undefined: nothing is left to do). Returns its successor. */
  #succeed(older: Job, draft: IntentionDraft | undefined): Job | undefined {
    const successor = draft === undefined ? undefined : this.#inPlaceOf(older, draft)
    if (successor === undefined) this.#open.drop(older)
    this.#open.supersede(older, successor)
    this.#options.say({ kind: 'superseded', intention: older.intention })
    // A job that stood behind the older one may be first now.
    this.#options.schedule.checkSoon()
    return successor
  }

  /** Puts a draft in a job's place; at the end if it has further paths, since a move must come after all changes at its source. */
  #inPlaceOf(older: Job, draft: IntentionDraft): Job {
    const before = pathsOf(older.intention)
    if (pathsOf(draft).every((path) => before.includes(path))) return this.#open.putInPlace(older, draft)
    this.#open.drop(older)
    return this.#open.journaled(draft)
  }
}
