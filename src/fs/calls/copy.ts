// copy_file_range of a whole document: the service copies from itself, no bytes move through this machine.

import { ErrnoError } from '../../errno-error.ts'
import { rebindReaders, touch } from '../unsent/content.ts'
import type { FileHandle } from '../tree/handles.ts'
import type { Superblock } from '../superblock.ts'

export interface CopyRange {
  readonly offsetIn: number
  readonly offsetOut: number
  readonly length: number
}

/** Bytes copied. Throws EOPNOTSUPP where it is not a whole, clean document into an empty one: the door then copies by itself. */
export function copyFileRange(
  sb: Superblock,
  fhIn: number,
  fhOut: number,
  { offsetIn, offsetOut, length }: CopyRange,
): number {
  const from = sb.handles.file(fhIn)
  const to = sb.handles.file(fhOut)
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
    to.node.isScratch
  ) {
    throw new ErrnoError('EOPNOTSUPP', 'only whole documents are copied within the service')
  }
  adoptCopy(sb, from, to)
  return version.size
}

/** Just created or emptied, and nothing of it sent. */
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
function adoptCopy(sb: Superblock, from: FileHandle, to: FileHandle): void {
  const { node } = to
  const { remote, storedPath } = from.node
  if (remote === undefined || storedPath === undefined) return
  sb.claims.show(node, undefined)
  sb.tree.versions.showAt(node, storedPath, remote, from.node.stored.askedAt)
  node.unsent.copies()
  node.local.wrote()
  touch(sb, node)
  rebindReaders(sb, node)
}
