// Unsent changes, as commands show them: those that are journaled, and documents that this machine's disk refused to keep.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Job } from '../../content/commit/job.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { Clock } from '../../world/clock.ts'
import type { Unsent } from '../status.ts'
import type { SaveFailures, SaveFailure } from './save-failures.ts'
import { unsentOf } from './unsent-of.ts'
import { join } from 'node:path'

export interface UnsentParts {
  readonly queue: CommitQueue
  readonly reach: Reach
  readonly spool: Spool
  readonly clock: Clock
  readonly saveFailures: SaveFailures
}

/** Returns the changes at or under a path that the service does not have yet. */
export function unsentUnder(parts: UnsentParts, path: string): readonly Unsent[] {
  const failures = parts.saveFailures.under(path)
  // A document that the disk refused is shown once: its older pending change is left out.
  const older = new Set(failures.map(({ node }) => node.job))
  const jobs = parts.queue.jobsUnder(path).filter((job) => !older.has(job))
  return [...failures.map((each) => unsentDocument(parts, each)), ...jobs.map((job) => unsentJob(parts, job))]
}

/** Returns the latest change of this very path that the service does not have yet. */
export function unsentAt(parts: UnsentParts, path: string): Unsent | undefined {
  const failure = parts.saveFailures.at(path)
  if (failure !== undefined) return unsentDocument(parts, failure)
  const job = parts.queue.find(path)
  return job === undefined ? undefined : unsentJob(parts, job)
}

function unsentJob(parts: UnsentParts, job: Job): Unsent {
  const { intention, isRunning } = job
  // An attempt may take a while to find out that the service is away.
  const isSending = isRunning && !parts.reach.isAway
  const facts = { isRunning: isSending, now: parts.clock.wall(), spoolDir: parts.spool.dir }
  const stopper = parts.queue.stopperOf(job)
  if (stopper === undefined) return unsentOf(intention, facts)
  const why = stopper.isHeld ? 'is open for writing' : 'is refused'
  return { ...unsentOf(intention, facts), lastError: `waits for ${stopper.intention.path}, which ${why}` }
}

function unsentDocument({ clock, spool }: UnsentParts, failure: SaveFailure): Unsent {
  const { node, error, since, attempts, nextAttemptAt } = failure
  const { content } = node
  return {
    path: node.path,
    action: node.unsent.base === undefined ? 'upload' : 'replace',
    state: 'unkept',
    bytes: node.size ?? 0,
    sentBytes: 0,
    attempts,
    lastError: error instanceof Error ? error.message : String(error),
    since: new Date(since).toISOString(),
    nextAttemptAt: nextAttemptAt > clock.wall() ? new Date(nextAttemptAt).toISOString() : undefined,
    spoolFile: content === undefined ? undefined : join(spool.dir, content.id),
  }
}

/** Returns the bytes that are to be sent. */
export function bytesOf(unsent: readonly Unsent[]): number {
  return unsent.reduce((sum, { bytes }) => sum + bytes, 0)
}
