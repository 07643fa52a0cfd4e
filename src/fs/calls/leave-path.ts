// First step of a rename: the document leaves its old path. Its unsent change is withdrawn, where that is still possible. The rest
// depends on what the service has at the old path, or will have:
// - the document's own version: the node remembers the path, and its next change moves the version from there.
// - a change of the document that is already being sent there: it arrives first, and is then moved like that.
// - only another document, which this one was to replace: that one is deleted.

import { fingerprintOf } from '../../content/fingerprint.ts'
import type { Node } from '../tree/node.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import { carriesNothing, type Intention } from '../../content/intention.ts'
import type { AttributeRow } from '../../content/spool/journal-rows.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Tree } from '../tree/tree.ts'
import type { Owners } from '../unsent/owners.ts'
import { isBeingWritten } from '../unsent/unsubmitted.ts'

export interface LeaveParts {
  readonly tree: Tree
  readonly queue: CommitQueue
  readonly owners: Owners
  readonly attributes: Pick<AttributeStore, 'at'>
}

/** The version that the service has, or may get, at the old path: that name has to be hidden until the version is gone. */
export interface LeftBehind {
  /** Undefined while it is not known. */
  readonly fingerprint: string | undefined
}

export interface Left {
  /** Undefined if the service has no document at the old path, and gets none. */
  readonly behind: LeftBehind | undefined
  /** Spool file that an earlier close accepted, and that the service does not have yet. */
  readonly accepted: string | undefined
  /** Modes and times journaled for the old path. */
  readonly set: AttributeRow | undefined
  /**
   * True if the next close commits the document anyway. Determined before its change is withdrawn: afterwards it is not known
   * any more which writes came after that change was submitted.
   */
  readonly isBeingWritten: boolean
}

/** Called before the document, or a folder above it, gets its new name. The caller hides the old name if there is a `behind`. */
export function leavePath(parts: LeaveParts, node: Node): Left {
  const { job, path } = node
  const isWritten = isBeingWritten(node)
  const behind = leftBehind(parts, node)
  const accepted = job?.intention.spool
  return { behind, accepted, set: parts.attributes.at(path), isBeingWritten: isWritten }
}

/** Withdraws the document's change, and decides between the three cases above. */
function leftBehind(parts: LeaveParts, node: Node): LeftBehind | undefined {
  const { path, job, remote } = node
  // If the change carries nothing any more, the version at the path is that of another document.
  const isOwnVersion = job === undefined || !carriesNothing(job.intention)
  const isStoredHere = isOwnVersion && remote !== undefined && node.storedPath === path
  // Its bytes are read at the old path until they have been moved.
  if (isOwnVersion) parts.tree.versions.refer(node, node.storedPath ?? path)
  if (job === undefined || job.intention.path !== path) {
    if (isStoredHere) {
      const fingerprint = fingerprintOf(remote)
      node.unsent.comesFrom({ path, fingerprint })
      return { fingerprint }
    }
    // The node's own content is not on its way here, but a change to the document it was renamed over may be.
    return dropReplaced(parts.queue, { path, base: node.unsent.base }, parts.queue.isExpected(path))
  }
  // An earlier save may have stored its content there (`sentDigests`) without an answer: `dropReplaced` deletes that.
  if (!parts.queue.withdraw(job, { seesToDoubts: true })) return arriving(node, path)
  const { source, sourceFingerprint, keepSource, base, sentDigests } = job.intention
  parts.owners.withdraw(node)
  const isMove = source !== undefined && keepSource !== true
  const isExpected = parts.queue.isExpected(path)
  if (isMove) {
    node.unsent.comesFrom({ path: source, fingerprint: sourceFingerprint })
    // A document that is still being sent to this path is the one that this node was to replace.
    return dropReplaced(parts.queue, { path, base, sentDigests }, isExpected)
  }
  if (isExpected) return arriving(node, path)
  if (!isStoredHere) return dropReplaced(parts.queue, { path, base, sentDigests })
  // The base in the intention is newer: only the queue knows of a version that was put back after a refusal.
  const fingerprint = base ?? fingerprintOf(remote)
  node.unsent.comesFrom({ path, fingerprint })
  return { fingerprint }
}

/** A change of the node is being sent to its old path: it arrives there first, and is moved on after that. */
function arriving(node: Node, path: string): LeftBehind {
  // The queue fills in the fingerprint when it has arrived.
  node.unsent.comesFrom({ path, fingerprint: undefined })
  return { fingerprint: undefined }
}

/**
 * Deletes the version that this node was to replace at its path: the node will not replace it any more, but it has lost its
 * name all the same. `sentDigests`: digests of contents that an earlier save may have stored there. `isExpected`: true if a
 * change of ours is still to put a document there, which has to go, too.
 */
function dropReplaced(
  queue: CommitQueue,
  replaced: Pick<Intention, 'path' | 'base'> & Partial<Pick<Intention, 'sentDigests'>>,
  isExpected = false,
): LeftBehind | undefined {
  const { path, base, sentDigests = [] } = replaced
  if (base === undefined && sentDigests.length === 0 && !isExpected) return undefined
  if (queue.find(path)?.intention.kind === 'delete') return { fingerprint: base }
  return queue.submit({ kind: 'delete', ...replaced }) === undefined ? undefined : { fingerprint: base }
}
