// What the service has not got yet, as people are told of it.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Job } from '../../content/commit/job.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { Clock } from '../../world/clock.ts'
import type { Unsent } from '../status.ts'
import { unsentOf } from './unsent-of.ts'

export interface UnsentParts {
  readonly queue: CommitQueue
  readonly reach: Reach
  readonly spool: Spool
  readonly clock: Clock
}

/** Changes at or under a path that the service has not got yet. */
export function unsentUnder(parts: UnsentParts, path: string): readonly Unsent[] {
  return parts.queue.jobsUnder(path).map((job) => unsentJob(parts, job))
}

/** The latest change of this very path that the service has not got yet. */
export function unsentAt(parts: UnsentParts, path: string): Unsent | undefined {
  const job = parts.queue.find(path)
  return job === undefined ? undefined : unsentJob(parts, job)
}

function unsentJob(parts: UnsentParts, { intention, isRunning }: Job): Unsent {
  // An attempt may take its time to learn that nobody is there.
  const isSending = isRunning && !parts.reach.isAway
  return unsentOf(intention, { isRunning: isSending, now: parts.clock.wall(), spoolDir: parts.spool.dir })
}

/** To be sent. */
export function bytesOf(unsent: readonly Unsent[]): number {
  return unsent.reduce((sum, { bytes }) => sum + bytes, 0)
}
