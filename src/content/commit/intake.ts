// What a newer intention makes of the older ones for its path: one they become together, one that takes the other's place, or
// one behind the other. All of it belongs to the journal's transaction under way.

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
  accept(draft: IntentionDraft): Job | undefined {
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
    return this.#open.journaled(draft)
  }

  /** A job that did not come to its end makes way for the one right behind it. */
  makeWay(job: Job): void {
    const { path, isRefused } = job.intention
    const [first, second] = this.#order.at(path)
    if (first !== job || !job.isIdle || second?.isIdle !== true) return
    // What is refused makes way all the same: nothing behind it would ever go.
    if (!isRefused && this.#order.isOvertakenAbove(job)) return
    const areMergeable = isMergeable(job.intention) && isMergeable(second.intention)
    const instead = areMergeable || isRefused ? succession(job.intention, second.intention) : undefined
    if (instead === undefined || !this.#mayStandIn(job, second, instead[0])) return
    this.#options.journal.transaction(() => {
      this.#open.drop(second)
      const successor = this.#succeed(job, instead)
      this.#open.supersede(second, successor)
      this.#options.say({ kind: 'replaced', intention: second.intention, successor })
    })
  }

  /** It is not wanted any more. */
  forgo(job: Job): void {
    this.#options.journal.transaction(() => this.#succeed(job, []))
  }

  /** What was refused makes way, too, where what stood beside it has ended. */
  makeWayBehind(job: Job): void {
    for (const path of pathsOf(job.intention)) {
      const next = this.#order.at(path)[0]
      for (const other of next === undefined ? [] : pathsOf(next.intention)) {
        const first = this.#order.at(other)[0]
        if (first !== undefined && first !== next && first.intention.isRefused) this.makeWay(first)
      }
    }
  }

  /** True where nothing comes into another order when `draft` takes the place of both: what stands behind the second, too. */
  #mayStandIn(job: Job, second: Job, draft: IntentionDraft | undefined): boolean {
    const { intention } = job
    const paths = draft === undefined ? [] : pathsOf(draft)
    // At the end of all orders, as one that came just now.
    const isNew = !paths.every((path) => pathsOf(intention).includes(path))
    // What has come to its source since is another document, and would be moved instead.
    const { source } = intention
    if (isNew && source !== undefined && paths.includes(source) && this.#order.at(source).at(-1) !== job)
      return false
    return this.#order.isLast(second, isNew && paths.includes(intention.path) ? undefined : intention.path)
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
    for (const job of this.#order.at(path)) if (job.intention.path === path) this.#open.release(job)
    const last = this.#order.at(path).at(-1)
    const isFutile = last?.isRunning === true && last.intention.path === path && isMergeable(last.intention)
    if (kind === 'delete' && isFutile && last.intention.spool !== undefined) this.#open.hold(last)
  }

  /** The last job of this path, if it is idle, wants this path and no other, and nothing of its past must be seen through first. */
  #mergeableWith(draft: IntentionDraft): Job | undefined {
    const last = this.#order.at(draft.path).at(-1)
    if (draft.kind === 'prune' || last === undefined || !last.isIdle) return undefined
    if (this.#order.isOvertakenAbove(last)) return undefined
    return last.intention.path === draft.path && isMergeable(last.intention) ? last : undefined
  }

  #succeed(older: Job, [first, ...rest]: readonly IntentionDraft[]): Job | undefined {
    const successor = first === undefined ? undefined : this.#inPlaceOf(older, first)
    if (successor === undefined) this.#open.drop(older)
    this.#open.supersede(older, successor)
    this.#options.say({ kind: 'superseded', intention: older.intention })
    // What stands at such a path by now sees to it.
    for (const draft of rest) if (this.#order.at(draft.path).length === 0) this.#open.journaled(draft)
    // What stood behind the older one may be first now.
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
