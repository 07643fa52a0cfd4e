// Decides when each intention runs: per path in order, several at once, again after failures for as long as it takes.
// Knows nothing of what running means: it is given a function.
//
//   submitted ─► waiting ─► running ─► done
//                  ▲           │
//                  ├─ backoff ◄┤ temporary failure (for ever)
//                  ├─ held ◄───┤ its content is being written again (until the next submit)
//                  └─ refused ◄┘ 4xx (until retry)

import PQueue from 'p-queue'
import { NetworkError } from '../../api/errors.ts'
import type { RemoteFile } from '../../api/types.ts'
import type { Log } from '../../log.ts'
import { redact } from '../../redact.ts'
import { backoffMs, isWorthRetrying } from './backoff.ts'
import { fingerprintOf } from '../fingerprint.ts'
import {
  concerns,
  intend,
  isDoubtful,
  isMergeable,
  merge,
  pathsOf,
  type Intention,
  type IntentionDraft,
} from '../intention.ts'
import { Job } from './job.ts'
import type { QueueEvent } from './queue-event.ts'
import type { Journal } from '../spool/journal.ts'

export interface CommitQueueOptions {
  readonly journal: Journal
  readonly log: Log
  /** Uploads and deletes under way at once. Default 8. */
  readonly concurrency?: number
  readonly now?: () => number
  run(intention: Intention, signal: AbortSignal): Promise<RemoteFile | undefined>
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
  readonly #queue: PQueue
  readonly #now: () => number
  /** Unfinished jobs by id, oldest first. */
  readonly #jobs = new Map<number, Job>()
  readonly #byPath = new Map<string, Job[]>()
  /** Jobs that are neither queued nor running: what `#pump` has to look at. */
  readonly #waiting = new Set<Job>()
  readonly #prunes = new Set<Job>()
  #timer: NodeJS.Timeout | undefined
  /** When the timer rings. */
  #alarm = Infinity
  #immediate: NodeJS.Immediate | undefined
  /** When something was submitted last. */
  #submittedAt = 0
  #isClosed = false

  constructor(options: CommitQueueOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#queue = new PQueue({ concurrency: options.concurrency ?? 8 })
  }

  /** Unfinished jobs, oldest first. */
  jobs(): Iterable<Job> {
    return this.#jobs.values()
  }

  /** Unfinished jobs that concern this path or anything under it. */
  jobsUnder(path: string): Job[] {
    return [...this.#jobs.values()].filter(({ intention }) => concerns(intention, path))
  }

  /** The newest unfinished job whose target is this path. */
  find(path: string): Job | undefined {
    return this.#byPath.get(path)?.findLast((job) => job.intention.path === path)
  }

  /** Deletes under a folder that were never sent and stand alone for their paths: what one recursive delete may do for all. */
  untriedDeletes(folder: string): Job[] {
    return this.jobsUnder(folder).filter(
      (job) =>
        job.isIdle &&
        job.intention.kind === 'delete' &&
        job.intention.attempts === 0 &&
        !isDoubtful(job.intention) &&
        this.#byPath.get(job.intention.path)?.length === 1,
    )
  }

  /** The oldest unfinished job that concerns this path: the only one that may be under way there. */
  first(path: string): Job | undefined {
    return this.#byPath.get(path)?.[0]
  }

  /** Takes up the open intentions of an earlier run. */
  resume(intentions: readonly Intention[]): void {
    for (const intention of intentions) this.#add(new Job(intention))
    this.#pump()
  }

  /**
   * Journals what is wanted and sends it in its turn. It survives a kill when this returns, a power cut once the journal's
   * `durable` resolves. Undefined where nothing is left to do.
   */
  submit(draft: IntentionDraft): Job | undefined {
    const job = this.#options.journal.transaction(() => this.#enter(draft))
    if (job !== undefined) this.#offer(job)
    return job
  }

  #enter(draft: IntentionDraft): Job | undefined {
    this.#submittedAt = this.#now()
    const older = this.#mergeableWith(draft)
    if (older === undefined) {
      this.#letGo(draft.path)
      return this.#journaled(draft)
    }
    const isExpected = this.#byPath.get(draft.path)?.[0] !== older
    return this.#succeed(older, merge(older.intention, draft, isExpected))
  }

  /** What is held for a newer submit, and cannot be merged with it, goes first. */
  #letGo(path: string): void {
    for (const job of this.#byPath.get(path) ?? []) if (job.intention.path === path) job.isHeld = false
  }

  /** The last job of this path, if it is idle, wants this path and no other, and nothing of its past must be seen through first. */
  #mergeableWith(draft: IntentionDraft): Job | undefined {
    const last = this.#byPath.get(draft.path)?.at(-1)
    if (draft.kind === 'prune' || last === undefined || !last.isIdle) return undefined
    return last.intention.path === draft.path && isMergeable(last.intention) ? last : undefined
  }

  #succeed(older: Job, draft: IntentionDraft | undefined): Job | undefined {
    const successor = draft === undefined ? undefined : this.#inPlaceOf(older, draft)
    if (successor === undefined) this.#drop(older)
    supersede(older, successor)
    this.#options.say({ kind: 'superseded', intention: older.intention })
    // What stood behind the older one may be first now.
    this.#pumpSoon()
    return successor
  }

  /** A job that failed and has a newer one for the same path right behind it makes way. */
  #mergeBehind(job: Job): void {
    const [first, second, ...more] = this.#byPath.get(job.intention.path) ?? []
    if (first !== job || second === undefined || more.length > 0 || !second.isIdle) return
    if (second.intention.path !== job.intention.path) return
    if (!isMergeable(job.intention) || !isMergeable(second.intention)) return
    this.#options.journal.transaction(() => {
      this.#drop(second)
      const successor = this.#succeed(job, merge(job.intention, second.intention, false))
      supersede(second, successor)
      this.#options.say({ kind: 'replaced', intention: second.intention, successor })
    })
  }

  /** A move comes after everything that is still on its way to its source: it keeps no older place. */
  #inPlaceOf(older: Job, draft: IntentionDraft): Job {
    if (isMergeable(draft)) return this.#putInPlace(older, draft)
    this.#drop(older)
    return this.#journaled(draft)
  }

  /** A draft takes the place of a job in every order: what was to wait for that one waits for it. */
  #putInPlace(place: Job, draft: IntentionDraft): Job {
    const job = new Job(intend(place.intention.id, draft, this.#now()))
    const { intention } = job
    this.#options.journal.saveIntention(intention)
    this.#jobs.set(intention.id, job)
    this.#waiting.delete(place)
    this.#waiting.add(job)
    for (const path of pathsOf(intention)) {
      const jobs = this.#byPath.get(path)
      if (jobs === undefined) this.#byPath.set(path, [job])
      else if (jobs.includes(place)) jobs[jobs.indexOf(place)] = job
      else jobs.push(job)
    }
    return job
  }

  #journaled(draft: IntentionDraft): Job {
    const intention = intend(this.#options.journal.nextId(), draft, this.#now())
    this.#options.journal.saveIntention(intention)
    const job = new Job(intention)
    this.#add(job)
    return job
  }

  #add(job: Job): void {
    this.#jobs.set(job.intention.id, job)
    this.#waiting.add(job)
    if (job.intention.kind === 'prune') this.#prunes.add(job)
    for (const path of pathsOf(job.intention)) {
      const jobs = this.#byPath.get(path)
      if (jobs === undefined) this.#byPath.set(path, [job])
      else jobs.push(job)
    }
  }

  #drop(job: Job): void {
    this.#options.journal.removeIntention(job.intention.id)
    this.#jobs.delete(job.intention.id)
    this.#waiting.delete(job)
    this.#prunes.delete(job)
    for (const path of pathsOf(job.intention)) this.#leave(job, path)
  }

  #leave(job: Job, path: string): void {
    const jobs = this.#byPath.get(path)
    if (jobs === undefined) return
    const at = jobs.indexOf(job)
    if (at !== -1) jobs.splice(at, 1)
    if (jobs.length === 0) this.#byPath.delete(path)
  }

  /** Takes an idle job back as if it had never been asked for. False when it is under way or may have been stored. */
  withdraw(job: Job): boolean {
    const { intention } = job
    // The answer to a delete that was tried may have been lost.
    if (intention.kind === 'delete' && intention.attempts > 0) return false
    if (this.#jobs.get(intention.id) !== job || !job.isIdle || isDoubtful(intention) || intention.isProven)
      return false
    // What waits behind it was meant to find its work done.
    const paths = pathsOf(intention)
    if (!paths.every((path) => this.#byPath.get(path)?.at(-1) === job)) return false
    for (const prune of this.#prunes) {
      if (prune.intention.id > intention.id && concerns(intention, prune.intention.path)) return false
    }
    this.#options.journal.transaction(() => this.#drop(job))
    job.isDone = true
    job.announce()
    this.#pump()
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
    job.isHeld = false
    this.#pump()
  }

  /** Runs now what waits for its quiet time or backoff, refusals included where asked. Answers how many. */
  expedite(isMeant: (intention: Intention) => boolean, options?: { refusedToo: boolean }): number {
    let count = 0
    for (const { intention } of this.#jobs.values()) {
      if (!isMeant(intention) || (intention.isRefused && options?.refusedToo !== true)) continue
      intention.notBefore = 0
      intention.isRefused = false
      count++
    }
    this.#pump()
    return count
  }

  /** A new job: only what it stands behind, and itself, may have something to do now. Looking at all that wait would cost the square of them. */
  #offer(job: Job): void {
    if (this.#isClosed) return
    if (this.#hurry(job)) {
      this.#pump()
      return
    }
    if (job.isHeld || !this.#waiting.has(job) || !this.#isFirst(job)) return
    const due = this.#dueAt(job.intention)
    if (due <= this.#now()) this.#enqueue(job)
    else this.#wakeAt(due)
  }

  /**
   * What rests before it is first sent rests on while more is submitted, for a moment: a program that copies or deletes
   * many files is done sooner, and what is still here may become part of a newer change.
   */
  #dueAt({ notBefore, since, attempts }: Intention): number {
    if (attempts > 0 || notBefore <= since) return notBefore
    return Math.max(notBefore, Math.min(this.#submittedAt + quietMs, notBefore + longestQuietMs))
  }

  /** Several jobs that end in one turn are followed by one look at what they made way for. */
  #pumpSoon(): void {
    if (this.#immediate === undefined) this.#immediate = setImmediate(() => this.#pump())
  }

  /** Sets the alarm, unless it rings before that anyway. */
  #wakeAt(time: number): void {
    if (time >= this.#alarm) return
    clearTimeout(this.#timer)
    this.#alarm = time
    this.#timer = setTimeout(() => this.#pump(), Math.min(time - this.#now(), 2 ** 30))
  }

  /** Queues everything whose turn it is, and sets the alarm for what waits. */
  #pump(): void {
    this.#immediate = undefined
    if (this.#isClosed) return
    while (this.#hurryAncestors()) {
      // What was waiting for its quiet time and stands in somebody's way may have somebody in its own.
    }
    const now = this.#now()
    let next = Infinity
    for (const job of this.#waiting) {
      const { intention } = job
      if (job.isHeld || intention.isRefused || !this.#isFirst(job)) continue
      const due = this.#dueAt(intention)
      if (due > now) next = Math.min(next, due)
      else this.#enqueue(job)
    }
    clearTimeout(this.#timer)
    this.#alarm = Infinity
    if (next !== Infinity) this.#wakeAt(next)
  }

  /** True when nothing older concerns the same paths. */
  #isFirst(job: Job): boolean {
    const { intention } = job
    const paths = pathsOf(intention)
    if (!paths.every((path) => this.#byPath.get(path)?.[0] === job)) return false
    if (paths.some((path) => this.#olderAbove(job, path) !== undefined)) return false
    for (const prune of this.#prunes) {
      if (prune.intention.id < intention.id && concerns(intention, prune.intention.path)) return false
    }
    if (intention.kind !== 'prune') return true
    for (const other of this.#jobs.values()) {
      if (other === job) return true
      if (concerns(other.intention, intention.path)) return false
    }
    return true
  }

  /** An older job for a document that stood where this path has a folder now: it has to be gone first. */
  #olderAbove(job: Job, path: string): Job | undefined {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const above = this.#byPath.get(path.slice(0, slash))?.[0]
      if (above !== undefined && above.intention.id < job.intention.id) return above
    }
    return undefined
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
      const above = this.#olderAbove(job, path)
      if (above === undefined || above.intention.attempts > 0 || above.intention.notBefore === 0) continue
      above.intention.notBefore = 0
      isAny = true
    }
    return isAny
  }

  #enqueue(job: Job): void {
    this.#waiting.delete(job)
    void this.#queue.add(() => this.#run(job))
  }

  async #run(job: Job): Promise<void> {
    const { intention } = job
    // Much may have happened while it stood in line.
    if (this.#jobs.get(intention.id) !== job || this.#isClosed) return
    if (job.isHeld || intention.notBefore > this.#now() || !this.#isFirst(job)) {
      this.#waiting.add(job)
      return
    }
    job.controller = new AbortController()
    job.isUnreachable = false
    intention.attempts++
    job.firstTriedAt ??= this.#now()
    intention.triedForMs = this.#now() - job.firstTriedAt
    try {
      const record = await this.#options.run(intention, job.controller.signal)
      // Content written while its last bytes were on the way: what the service has is an older state of it.
      if (job.isHeld) this.#adjust(job, record)
      else this.#finish(job, record)
    } catch (error) {
      this.#failed(job, error)
    }
    job.controller = undefined
    if (this.#jobs.get(intention.id) === job) {
      this.#waiting.add(job)
      this.#mergeBehind(job)
    }
    job.announce()
    this.#pumpSoon()
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
      const batch = jobs
        .slice(at, at + fulfilledAtOnce)
        .filter((job) => this.#jobs.get(job.intention.id) === job && job.isIdle)
      this.#options.journal.transaction(() => {
        for (const job of batch) this.#finish(job, undefined)
      })
      for (const job of batch) job.announce()
    }
    this.#pumpSoon()
  }

  #finish(job: Job, record: RemoteFile | undefined): void {
    this.#options.journal.transaction(() => {
      this.#drop(job)
      this.#rebase(job.intention.path, record)
      this.#options.say({ kind: 'done', intention: job.intention, record })
    })
    job.isDone = true
  }

  /** Later intentions for this path now stand on what was just stored. */
  #rebase(path: string, record: RemoteFile | undefined): void {
    const fingerprint = record === undefined ? undefined : fingerprintOf(record)
    for (const { intention } of this.#byPath.get(path) ?? []) {
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
        this.#leave(job, intention.source)
      intention.source = undefined
      intention.sourceFingerprint = undefined
      intention.isProven = false
      this.#rebase(intention.path, record)
    })
  }

  #failed(job: Job, error: unknown): void {
    const { intention } = job
    if (this.#isClosed) return
    if (job.isHeld) return
    job.error = error
    // A service may echo a signature or a key in what it says.
    intention.lastError = redact(error instanceof Error ? error.message : String(error))
    job.isUnreachable =
      error instanceof NetworkError && (error.kind === 'unreachable' || error.kind === 'away')
    if (isWorthRetrying(error)) {
      intention.notBefore = this.#now() + backoffMs(intention.attempts, error)
      this.#options.log.warn(
        { path: intention.path, attempts: intention.attempts, error: intention.lastError },
        'not sent yet, trying again',
      )
    } else {
      intention.isRefused = true
      this.#options.log.error(
        { path: intention.path, error: intention.lastError },
        'refused by the service; the content is kept here',
      )
      this.#options.say({ kind: 'refused', intention, error })
    }
    if (this.#jobs.get(intention.id) === job) this.#note(intention)
  }

  /** How an attempt went is worth noting, but not worth a crash: without room for it the intention itself is still there. */
  #note(intention: Intention): void {
    try {
      this.#options.journal.saveIntention(intention)
    } catch (error) {
      this.#options.log.error({ path: intention.path, error }, 'the state of a change could not be journaled')
    }
  }

  /** Removes a refused job for good: its owner has undone what it stood for. */
  abandon(job: Job): void {
    this.#options.journal.transaction(() => this.#drop(job))
    job.isDone = true
    job.announce()
    this.#pump()
  }

  /** Stops: what is under way is cut off and stays journaled. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const job of this.#jobs.values())
      job.controller?.abort(new DOMException('the mount ends', 'AbortError'))
    await this.#queue.onIdle()
  }
}

/** Whoever waits for the one waits for the other. */
function supersede(job: Job, successor: Job | undefined): void {
  job.successor = successor
  job.isDone = successor === undefined
  job.announce()
}
