// A document leaves its path: what is pending there is taken back where that is still possible, and the node remembers
// where the service has it, so that its next commit moves it from there.

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

/** The version that the service has, or may get, at the path a node left: that name has to be hidden until it is gone. */
export interface LeftBehind {
  readonly fingerprint: string | undefined
}

export interface Left {
  readonly behind: LeftBehind | undefined
  /** The content that an earlier close accepted, and that the service has not got yet. */
  readonly accepted: string | undefined
  /** Modes and times set on the version in the journal, which may be being written again. */
  readonly set: AttributeRow | undefined
  /**
   * The next close commits the document anyway. Asked before its change is taken back: afterwards it is not known any more
   * what was written since that was handed in.
   */
  readonly isBeingWritten: boolean
}

export function leavePath(parts: LeaveParts, node: Node): Left {
  const { job, path } = node
  const isWritten = isBeingWritten(node)
  const behind = leftBehind(parts, node)
  const accepted = job?.intention.spool
  return { behind, accepted, set: parts.attributes.at(path), isBeingWritten: isWritten }
}

function leftBehind(parts: LeaveParts, node: Node): LeftBehind | undefined {
  const { path, job, remote } = node
  // Of a document whose change carries nothing any more, what stands at its path is another's.
  const isAnywhere = job === undefined || !carriesNothing(job.intention)
  const isStoredHere = isAnywhere && remote !== undefined && node.storedPath === path
  // Its bytes can be read where they are until they have been moved.
  if (isAnywhere) parts.tree.versions.refer(node, node.storedPath ?? path)
  if (job === undefined || job.intention.path !== path) {
    if (isStoredHere) {
      const fingerprint = fingerprintOf(remote)
      node.unsent.comesFrom({ path, fingerprint })
      return { fingerprint }
    }
    // The node's own content is not on its way here, but a change to the document it was renamed over may be.
    return dropReplaced(parts.queue, { path, base: node.unsent.base }, parts.queue.isExpected(path))
  }
  if (!parts.queue.withdraw(job, { seesToDoubts: true })) return arriving(node, path)
  const { source, sourceFingerprint, keepSource, base, sentDigests } = job.intention
  parts.owners.withdraw(node)
  const isMove = source !== undefined && keepSource !== true
  const isExpected = parts.queue.isExpected(path)
  if (isMove) {
    node.unsent.comesFrom({ path: source, fingerprint: sourceFingerprint })
    // The document still on its way here is the one whose place it was to take.
    return dropReplaced(parts.queue, { path, base, sentDigests }, isExpected)
  }
  if (isExpected) return arriving(node, path)
  if (!isStoredHere) return dropReplaced(parts.queue, { path, base, sentDigests })
  // The queue's is the fresher: of a version that was put back after a refusal it alone knows.
  const fingerprint = base ?? fingerprintOf(remote)
  node.unsent.comesFrom({ path, fingerprint })
  return { fingerprint }
}

/** Something of it is on its way to its old path: it arrives there first, and is moved on after that. */
function arriving(node: Node, path: string): LeftBehind {
  // The queue sees to the fingerprint when it has arrived.
  node.unsent.comesFrom({ path, fingerprint: undefined })
  return { fingerprint: undefined }
}

/**
 * The version this node was to replace at its path, and now will not, has to go all the same. `sentDigests`: what an earlier save may
 * have put there.
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
