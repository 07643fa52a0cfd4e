// A copy that the service is to make depends on a document that other clients may delete: a save of it succeeds only once the
// copy is made, or its bytes are on this machine.

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

/** Interval at which a copy under way is checked (ms). */
const checkIntervalMs = 1_000

/** Returns true if `job` is no copy, or is done; false if its bytes are here now, and have to be journaled. Waits for either. */
export async function isCopyMade(
  parts: OwnCopyParts,
  node: Node,
  job: Job,
  signal: AbortSignal,
): Promise<boolean> {
  if (!node.unsent.isCopy) return true
  // While the service makes the copy, no other way is faster.
  while (job.isRunning && !parts.reach.isAway) {
    const waiting = waitForJob(parts.clock, job, {
      timeoutMs: checkIntervalMs,
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
