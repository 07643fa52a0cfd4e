// copy_file_range of a whole document: the service copies from itself, no bytes move through this machine.

import { ErrnoError } from '../../errno-error.ts'
import type { Caller } from '../operations.ts'
import { rebindReaders } from '../unsent/content.ts'
import { touch, type TouchParts } from '../unsent/writing.ts'
import type { FileHandle, HandleTable } from '../tree/handles.ts'
import type { Claims } from '../unsent/claims.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Tree } from '../tree/tree.ts'

export interface CopyParts extends TouchParts {
  readonly tree: Tree
  readonly handles: HandleTable
  readonly claims: Claims
  readonly reach: Reach
}

export interface CopyRange {
  readonly offsetIn: number
  readonly offsetOut: number
  readonly length: number
}

/**
 * Returns the number of bytes copied. Throws EOPNOTSUPP unless a whole, unchanged document is copied into an empty one while
 * the service is reachable: the door then copies the bytes itself.
 */
export function copyFileRange(
  parts: CopyParts,
  fhIn: number,
  fhOut: number,
  { offsetIn, offsetOut, length }: CopyRange,
  caller: Caller,
): number {
  const from = parts.handles.file(fhIn)
  const to = parts.handles.file(fhOut)
  const { version } = from.node
  const isWhole =
    offsetIn === 0 &&
    offsetOut === 0 &&
    version?.size !== undefined &&
    version.size > 0 &&
    length >= version.size
  if (
    !isWhole ||
    !isEmptyAndNew(to) ||
    from.node.isDirty ||
    from.node.job !== undefined ||
    from.node.isUnlinked ||
    parts.reach.isAway ||
    to.node.isLocalOnly
  ) {
    throw new ErrnoError('EOPNOTSUPP', 'only whole documents are copied within the service')
  }
  // A copy counts as a read of the source: its program knows this version from now on.
  parts.tree.seen.read(from.node.path, from.node.shown, caller)
  adoptCopy(parts, from, to)
  return version.size
}

/** True for a document that was just created or emptied, and of which nothing is sent. */
function isEmptyAndNew({ node }: FileHandle): boolean {
  return (
    node.content !== undefined &&
    node.content.size === 0 &&
    !node.local.isWritten &&
    node.job === undefined &&
    node.remote === undefined
  )
}

/** The target shows the source's version until its own commit makes the copy. */
function adoptCopy(parts: CopyParts, from: FileHandle, to: FileHandle): void {
  const { node } = to
  const { remote, storedPath } = from.node
  if (remote === undefined || storedPath === undefined) return
  parts.claims.show(node, undefined)
  parts.tree.versions.showAt(node, storedPath, remote, from.node.stored.askedAt)
  node.unsent.copies()
  node.local.wrote()
  touch(parts, node)
  rebindReaders(parts.handles, node)
}
