// A document's name is taken away here: it is hidden at once, and the service hears of it after a moment's grace, in which an
// editor's "delete, then rename the new one here" becomes one replace.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { pathIn, type Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'

/** Long enough for any program's next system call, short enough that nobody waits for it (ms). */
const graceMs = 1_000

export interface DeleteStoredParts {
  readonly tree: Tree
  readonly queue: CommitQueue
}

/** True if the service has, or may get, something at the document's path: its own, or what it was renamed over. */
export function mayBeStored(queue: CommitQueue, { remote, job, unsent, path }: Node): boolean {
  const isKnown = remote !== undefined || job !== undefined || unsent.base !== undefined
  return isKnown || queue.isExpected(path)
}

/** Hides the name and journals the delete of what the service has, or may get, there: this version, as far as known. */
export function deleteStored(
  { tree, queue }: DeleteStoredParts,
  folder: Node,
  name: string,
  fingerprint: string | undefined,
): void {
  const path = pathIn(folder, name)
  const job = queue.submit({ kind: 'delete', path, base: fingerprint, deferMs: graceMs })
  const isSent = job?.intention.path === path
  // Never sent: there is nothing to hide but what was gone before.
  if (!isSent && !queue.isToBeEmptied(path)) return
  // An earlier intention may have told the queue of a version that no node has heard of.
  tree.synced.touch(path, (isSent ? job.intention.base : undefined) ?? fingerprint)
}
