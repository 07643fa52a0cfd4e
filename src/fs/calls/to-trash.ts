// Documents that are deleted in the service and stay on this machine: in the trash, or for programs that have them open. Their
// bytes are fetched first; one transaction of the journal then records the local file and the delete for the service.

import { ErrnoError } from '../../errno-error.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Reader } from '../../content/read/reader.ts'
import { takenAway } from '../tree/begin-save.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import type { Caller } from '../operations.ts'
import { bringHere, type BringParts } from '../unsent/bring-here.ts'
import { deleteStored, mayBeStored } from './delete-stored.ts'

export interface BringForTrashParts extends BringParts {
  readonly reader: Reader
}

/** Most bytes that are fetched for one move into the trash. */
const mostFetchedBytes = 64 * 1024 * 1024

/**
 * Fetches the bytes of these documents. Throws EXDEV if too many are missing here (file managers then offer to delete for good, and
 * `mv` copies), and the errors of fetching.
 */
export async function bringForTrash(
  parts: BringForTrashParts,
  documents: readonly Node[],
  signal: AbortSignal,
): Promise<void> {
  const stored = documents.filter(({ isLocalOnly, content }) => !isLocalOnly && content === undefined)
  let missing = 0
  for (const { version, size = 0 } of stored)
    if (version !== undefined) missing += size - (await parts.reader.disk.bytesInPlace(version, size))
  if (missing > mostFetchedBytes)
    throw new ErrnoError('EXDEV', `${missing} bytes would have to be fetched for the trash`)
  for (const node of stored) await bringHere(parts, node, signal)
}

export interface LeaveServiceParts {
  readonly tree: Tree
  readonly queue: CommitQueue
}

/** Called before the node gets its new name. Returns a function that hides the old name and journals the delete for the service. */
export function leaveService(parts: LeaveServiceParts, node: Node, caller: Caller): () => void {
  const { name, parent } = node
  const version = takenAway(parts.tree.seen, node, caller)
  if (parent === undefined || !mayBeStored(parts.queue, node)) return () => {}
  return () => {
    deleteStored(parts, parent, name, version)
    node.unsent.givenUp()
  }
}
