// A newer intention meets the older ones for its path: they become one, it takes the place of one, or it stands
// behind them. All of it belongs to the journal's transaction under way.

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

  /** Undefined where nothing is left to do. */
  accept(given: IntentionDraft): Job | undefined {
    const draft = this.#adoptReplacedVersion(given)
    this.#releaseHeld(draft)
    const asked = this.#pruneOf(draft)
    if (asked !== undefined) return asked
    const older = this.#mergeableWith(draft)
    if (older !== undefined) {
      const merged = merge(older.intention, draft, this.#isExpectedBefore(older))
      return this.#pastRefused(this.#succeed(older, merged))
    }
    return this.#pastRefused(this.#open.journaled(draft))
  }

  /**
   * A document that comes to a name which one with its content here was to leave takes the place of the version there:
   * nothing is left to be taken away, neither waits for the other, and what is wanted at each name is one change.
   */
  #adoptReplacedVersion(draft: IntentionDraft): IntentionDraft {
    const { kind, path } = draft
    const leaving = this.#order.at(path).at(-1)
    if (kind !== 'put' || leaving === undefined || !this.#mayLeave(leaving, path)) return draft
    const { sourceFingerprint, sentDigests } = leaving.intention
    this.#open.leaveSource(leaving)
    this.#options.journal.intentions.save(leaving.intention)
    // It may be first at its path now.
    this.#options.journal.afterCommit(() => this.#options.schedule.lookSoon())
    return {
      ...draft,
      base: draft.base ?? sourceFingerprint,
      sentDigests: (draft.sentDigests ?? []).reduce(withDigest, sentDigests),
    }
  }

  /** True where it was to take away what stands at this path, and need not if something newer does. */
  #mayLeave(job: Job, at: string): boolean {
    const { path, source, spool, keepSource, isCopied, isRefused } = job.intention
    const isMove = source === at && path !== at && keepSource !== true
    if (!isMove || spool === undefined || !job.isIdle || isCopied || isRefused) return false
    // A newer change above waits until the path is empty, so the version there still has to go.
    return !this.#order.isOvertakenAbove(job, at)
  }

  /** A job that did not come to its end makes way for the one right behind it. */
  yieldToNewer(job: Job): void {
    const { intention } = job
    const [first, second] = this.#order.at(intention.path)
    if (first !== job || !job.isIdle || second?.isIdle !== true) return
    if (intention.isRefused) return void this.#yieldRefused(job, second)
    if (this.#order.isOvertakenAbove(job) || !isMergeable(intention) || !isMergeable(second.intention)) return
    const instead = succession(intention, second.intention)
    // No job may come into another order, also none behind the second.
    if (instead === undefined || !this.#order.isLast(second, intention.path)) return
    this.#options.journal.transaction(() => {
      this.#open.drop(second)
      const successor = this.#succeed(job, instead[0])
      this.#open.supersede(second, successor)
      this.#options.say({ kind: 'replaced', intention: second.intention, successor })
    })
  }

  /** A refused job that would stand in the way of this one for ever makes way at once. Answers what the job goes on as. */
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

  /** A refused job makes way whatever stands behind the second: none of those would ever run. Answers what that goes on as. */
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
      // Wanted since is perhaps that its folder goes, or a document in the place of that: it comes before either.
      if (left === undefined) this.#open.drop(other)
      else this.#open.putInPlace(other, left)
      this.#options.say({ kind: 'superseded', intention: job.intention })
      this.#options.say({ kind: 'replaced', intention: second.intention, successor })
      const next = this.#order.at(path)[0]
      if (next !== undefined && next !== successor) this.#open.standOn(next, path, base)
      this.#options.schedule.lookSoon()
      return successor
    })
  }

  /** A job that is to empty the source of the refused one does so before what was wanted there, or above, since then. */
  #isOlderPlace(job: Job, second: Job, draft: IntentionDraft | undefined): boolean {
    const { path, source = path } = job.intention
    if (source === path || draft === undefined) return false
    if (draft.kind === 'delete') return draft.path === source
    if (draft.source !== source || !this.#order.isOvertakenAbove(job, source)) return false
    // Unless it waits for something where it goes to.
    const isAwaited = this.#order.olderAbove(second, draft.path) ?? this.#order.olderPrune(second)
    return isAwaited === undefined
  }

  /** It is not wanted any more. */
  cancel(job: Job): void {
    this.#options.journal.transaction(() => this.#succeed(job, undefined))
  }

  /** A document that has come to its source since is another one, and would be moved instead: it gives way there first. */
  #isSourceReplaced({ intention: { path, source } }: Job, [draft]: readonly IntentionDraft[]): boolean {
    return (
      source !== undefined && source !== path && draft?.source === source && this.#order.at(source).length > 1
    )
  }

  /**
   * A held job is released where something newer stands behind it: the close it is held for may be long in coming,
   * and where its document is taken on from there, none comes. An upload that is only to be deleted stops.
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

  /** The folder is to go already, and nothing has changed in it since. */
  #pruneOf({ kind, path }: IntentionDraft): Job | undefined {
    const last = kind === 'prune' ? this.#order.under(path).at(-1) : undefined
    if (last === undefined || !last.isIdle || last.intention.isRefused) return undefined
    return last.intention.kind === 'prune' && last.intention.path === path ? last : undefined
  }

  /** Something is on its way to its path before it, and not to be gone by then. */
  #isExpectedBefore(job: Job): boolean {
    const jobs = this.#order.at(job.intention.path)
    return jobs[jobs.indexOf(job) - 1]?.intention.kind === 'put'
  }

  /** The last job of this path, if it is idle, wants this path and no other, and nothing of its past must be seen through first. */
  #mergeableWith(draft: IntentionDraft): Job | undefined {
    const last = this.#order.at(draft.path).at(-1)
    if (draft.kind === 'prune' || last === undefined || !last.isIdle) return undefined
    if (this.#order.isOvertakenAbove(last)) return undefined
    return last.intention.path === draft.path && isMergeable(last.intention) ? last : undefined
  }

  /** It goes on as this; undefined where nothing is left to do. */
  #succeed(older: Job, draft: IntentionDraft | undefined): Job | undefined {
    const successor = draft === undefined ? undefined : this.#inPlaceOf(older, draft)
    if (successor === undefined) this.#open.drop(older)
    this.#open.supersede(older, successor)
    this.#options.say({ kind: 'superseded', intention: older.intention })
    // A job that stood behind the older one may be first now.
    this.#options.schedule.lookSoon()
    return successor
  }

  /** A move comes after everything that is still on its way to its source: it keeps no older place but its own. */
  #inPlaceOf(older: Job, draft: IntentionDraft): Job {
    const before = pathsOf(older.intention)
    if (pathsOf(draft).every((path) => before.includes(path))) return this.#open.putInPlace(older, draft)
    this.#open.drop(older)
    return this.#open.journaled(draft)
  }
}
