// The order of unfinished jobs per path: a move `f` → `g` stands in the lines of both, and runs when it is first in both. Knows
// nothing of time: a job that is first may still have to wait.

import { foldersAbove, isAtOrUnder } from '../../path.ts'
import { concerns, pathsOf } from '../intention.ts'
import { onRollback } from '../spool/transaction-steps.ts'
import { UndoableMap, UndoableSet } from '../spool/undo.ts'
import type { Job } from './job.ts'

export class PathOrder {
  /** All unfinished jobs by id, oldest first. */
  readonly #jobs = new UndoableMap<number, Job>()
  readonly #byPath = new UndoableMap<string, readonly Job[]>()
  readonly #prunes = new UndoableSet<Job>()
  /** Folders in which no job may run, because the service is deleting them, with the number of such deletes. */
  readonly #closed = new Map<string, number>()

  /** Oldest first. */
  all(): Iterable<Job> {
    return this.#jobs.values()
  }

  has(job: Job): boolean {
    return this.#jobs.get(job.intention.id) === job
  }

  /** Jobs that change this very path, or move away from it; oldest first. */
  at(path: string): readonly Job[] {
    return this.#byPath.get(path) ?? []
  }

  /** Jobs that concern this path or anything under it; oldest first. */
  under(path: string): Job[] {
    return [...this.#jobs.values()].filter(({ intention }) => concerns(intention, path))
  }

  add(job: Job): void {
    this.#jobs.set(job.intention.id, job)
    if (job.intention.kind === 'prune') this.#prunes.add(job)
    for (const path of pathsOf(job.intention)) this.#append(job, path)
  }

  /** Puts a job in the place of another, whose id it has: jobs that were to wait for that one wait for it. */
  replace(place: Job, job: Job): void {
    this.#jobs.set(job.intention.id, job)
    const paths = pathsOf(job.intention)
    for (const path of paths) {
      const jobs = this.#byPath.get(path)
      if (jobs?.includes(place) === true) this.#byPath.set(path, jobs.with(jobs.indexOf(place), job))
      else this.#append(job, path)
    }
    for (const path of pathsOf(place.intention)) if (!paths.includes(path)) this.leave(place, path)
  }

  remove(job: Job): void {
    onRollback(() => this.#sort())
    this.#jobs.delete(job.intention.id)
    this.#prunes.delete(job)
    for (const path of pathsOf(job.intention)) this.leave(job, path)
  }

  /** Removes the job from the order of this path only, as when a move leaves its source to newer jobs. */
  leave(job: Job, path: string): void {
    const jobs = this.#byPath.get(path) ?? []
    const rest = jobs.filter((other) => other !== job)
    if (rest.length === 0) this.#byPath.delete(path)
    else this.#byPath.set(path, rest)
  }

  /** True where no older job concerns its paths. */
  isFirst(job: Job): boolean {
    const { intention } = job
    const paths = pathsOf(intention)
    if (paths.some((path) => this.#isClosed(path))) return false
    return paths.every((path) => this.at(path)[0] === job) && this.#olderAround(job) === undefined
  }

  /** An older job that this one waits for. */
  olderThan(job: Job): Job | undefined {
    for (const path of pathsOf(job.intention)) {
      const [first] = this.at(path)
      if (first !== undefined && first !== job) return first
    }
    return this.#olderAround(job)
  }

  /** An older job at another path that this one waits for. */
  #olderAround(job: Job): Job | undefined {
    const { intention } = job
    for (const path of pathsOf(intention)) {
      const above = this.olderAbove(job, path)
      if (above !== undefined) return above
    }
    const prune = this.olderPrune(job)
    if (prune !== undefined || intention.kind !== 'prune') return prune
    for (const other of this.#jobs.values()) {
      if (other === job) return undefined
      if (concerns(other.intention, intention.path)) return other
    }
    return undefined
  }

  /** Keeps jobs at this path and below it from being first, until the returned function is called. */
  close(folder: string): () => void {
    this.#closed.set(folder, (this.#closed.get(folder) ?? 0) + 1)
    return () => {
      const left = (this.#closed.get(folder) ?? 1) - 1
      if (left === 0) this.#closed.delete(folder)
      else this.#closed.set(folder, left)
    }
  }

  #isClosed(path: string): boolean {
    if (this.#closed.size === 0) return false
    return this.#closed.has(path) || foldersAbove(path).some((folder) => this.#closed.has(folder))
  }

  /** True where no job waits for it, except perhaps at the path `except`. */
  isLast(job: Job, except?: string): boolean {
    const { intention } = job
    if (!pathsOf(intention).every((path) => path === except || this.at(path).at(-1) === job)) return false
    for (const prune of this.#prunes) {
      if (prune.intention.id > intention.id && concerns(intention, prune.intention.path)) return false
    }
    return true
  }

  /** True where a newer job removes a folder above this path, or puts a document in its place: even newer ones come after that. */
  isOvertakenAbove({ intention }: Job, path: string = intention.path): boolean {
    const { id } = intention
    const isNewer = (job: Job): boolean => job.intention.id > id
    for (const prune of this.#prunes)
      if (isNewer(prune) && concerns(intention, prune.intention.path)) return true
    return foldersAbove(path).some((folder) => this.at(folder).some(isNewer))
  }

  /** An older job for a document at a path that must be a folder for this job: the document has to be gone first. */
  olderAbove(job: Job, path: string): Job | undefined {
    for (const folder of foldersAbove(path)) {
      const above = this.at(folder)[0]
      if (above !== undefined && above.intention.id < job.intention.id) return above
    }
    return undefined
  }

  /** An older prune of a folder in which this job changes something. */
  olderPrune({ intention }: Job): Job | undefined {
    for (const prune of this.#prunes)
      if (prune.intention.id < intention.id && concerns(intention, prune.intention.path)) return prune
    return undefined
  }

  /** True where a prune of a folder at this path, or above it, is still to be done. */
  hasPruneAbove(path: string): boolean {
    for (const { intention } of this.#prunes) if (isAtOrUnder(path, intention.path)) return true
    return false
  }

  /** Refused jobs that this prune waits for. */
  *refusedBefore(prune: Job): Iterable<Job> {
    for (const job of this.#jobs.values()) {
      if (job === prune) return
      if (job.intention.isRefused && concerns(job.intention, prune.intention.path)) yield job
    }
  }

  /**
   * The job that this prune waits for and that does not go on automatically: it is refused and waits for the user, or
   * held while a program writes its content.
   */
  stoppedBefore(prune: Job): Job | undefined {
    for (const job of this.#jobs.values()) {
      if (job === prune) return undefined
      const isStopped = job.isHeld || (job.intention.isRefused && !job.blocksFolder)
      if (isStopped && concerns(job.intention, prune.intention.path)) return job
    }
    return undefined
  }

  /** A removal that was undone put its job last. */
  #sort(): void {
    const inOrder = [...this.#jobs].sort(([one], [other]) => one - other)
    this.#jobs.clear()
    for (const [id, job] of inOrder) this.#jobs.set(id, job)
  }

  #append(job: Job, path: string): void {
    this.#byPath.set(path, [...this.at(path), job])
  }
}
