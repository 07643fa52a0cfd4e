// A copy that the service is to make stands on a document that other clients may delete: until it is made, or its bytes are
// here, nobody is told that it is saved.

import { ErrnoError } from '../../errno-error.ts'
import { waitForJob, type Job } from '../../content/commit/job.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Node } from '../tree/node.ts'
import type { SaveFailures } from './save-failures.ts'
import { makeWritable } from './writing.ts'
import type { BringParts } from './bring-here.ts'

export interface OwnCopyParts extends BringParts {
  readonly reach: Reach
  readonly saveFailures: SaveFailures
}

/** How often it is asked whether the copy is still under way (ms). */
const lookMs = 1_000

/** True where `job` is no copy, or is done; false where its bytes are here now, and have to be journaled. */
export async function isCopyMade(
  parts: OwnCopyParts,
  node: Node,
  job: Job,
  signal: AbortSignal,
): Promise<boolean> {
  if (!node.unsent.isCopy) return true
  // As long as the service is at it, nothing is quicker.
  while (job.isRunning && !parts.reach.isAway) {
    const waiting = waitForJob(parts.clock, job, {
      timeoutMs: lookMs,
      signal,
      untilUnreachable: true,
      untilHeld: true,
    })
    if ((await parts.reach.unlessAway(waiting)) !== 'timeout') break
  }
  if (job.isDone || node.job !== job) return true
  for (let wait; (wait = makeWritable(parts, node, { signal })) !== undefined;) await wait
  if (node.content === undefined) throw new ErrnoError('EIO', `${node.path}: no content to keep`)
  return job.isDone || node.job !== job
}
