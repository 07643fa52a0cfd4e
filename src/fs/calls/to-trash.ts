// Documents that are taken from the service and go on on this machine: into the trash, or for those who have them open. Their bytes
// are here first, in a row of the journal's transaction that also says what the service has to hear.

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

/** So many bytes are fetched for one move into the trash. */
const fetchedBytes = 64 * 1024 * 1024

/**
 * Throws EXDEV where too much is not on this machine: file managers then offer to delete for good, and `mv` copies. And what fetching
 * throws.
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
  if (missing > fetchedBytes)
    throw new ErrnoError('EXDEV', `${missing} bytes would have to be fetched for the trash`)
  for (const node of stored) await bringHere(parts, node, signal)
}

export interface LeaveServiceParts {
  readonly tree: Tree
  readonly queue: CommitQueue
}

/** Asked before the node gets its new name. Answers what hides the old one, and journals that the service has to hear of it. */
export function leaveService(parts: LeaveServiceParts, node: Node, caller: Caller): () => void {
  const { name, parent } = node
  const version = takenAway(parts.tree.seen, node, caller)
  if (parent === undefined || !mayBeStored(parts.queue, node)) return () => {}
  return () => {
    deleteStored(parts, parent, name, version)
    node.unsent.givenUp()
  }
}
