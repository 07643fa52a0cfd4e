// chmod, chown, utimens, truncate, fallocate. Modes and times are accepted and kept here: the service has no place for them.

import { ErrnoError } from '../../errno-error.ts'
import { abortable } from '../../abortable.ts'
import { makeWritableAs, markChanged, truncateContent, type TruncateParts } from '../unsent/writing.ts'
import { timeOfMs, type Owner } from '../tree/attributes.ts'
import { checkHasContent, entryOf, type EntryParts } from './lookup.ts'
import type { Node } from '../tree/node.ts'
import { checkHole, type HoleParts } from '../unsent/holes.ts'
import type { AttributeChange, Caller, Entry, MaybePromise, Time } from '../operations.ts'
import type { SubmitParts } from '../unsent/submit.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Times } from '../tree/parts/times.ts'

interface ResizeParts extends TruncateParts, SubmitParts, HoleParts {}

export interface SetattrParts extends ResizeParts, EntryParts {
  readonly attributes: AttributeStore
}

export function setattr(
  parts: SetattrParts,
  ino: number,
  change: AttributeChange,
  fh: number | undefined,
  caller: Caller,
): MaybePromise<Entry> {
  const node = parts.tree.nodes.get(ino)
  checkOwner(parts.owner, node, change)
  if (change.size === undefined) return applyAttributes(parts, node, change)
  if (node.folder !== undefined) throw new ErrnoError('EISDIR', `${node.path} is a folder`)
  checkHasContent(node, true)
  if (change.size > Number.MAX_SAFE_INTEGER) throw new ErrnoError('EFBIG', `${node.path}: too large`)
  checkHole(parts, node, change.size)
  return resize(parts, node, change.size, fh, caller).then(() => applyAttributes(parts, node, change))
}

async function resize(
  parts: ResizeParts,
  node: Node,
  size: number,
  fh: number | undefined,
  caller: Caller,
): Promise<void> {
  const before = node.size
  // The content generation that the program knows: its handle's. For truncate(2) by path, the present one.
  const known = fh === undefined ? node.door : parts.handles.file(fh)
  await abortable(truncateContent(parts, node, size, caller, known.contentGeneration), caller.signal)
  // A size set by setattr counts as a write, which the next close saves; O_TRUNC does not, since most programs write after it.
  if (node.size !== before) node.local.wrote()
  // truncate(2) by path has no close that would save it. A size of 0 may come from the O_TRUNC of a handle, whose close saves
  // it.
  if (fh === undefined && (size > 0 || node.door.writeHandles === 0) && node.isDirty)
    await parts.saves.commit(node)
}

/** Only root may give documents away, and there is no other owner to give them to. */
function checkOwner(owner: Owner, node: Node, { uid, gid }: AttributeChange): void {
  const isOther = (uid !== undefined && uid !== owner.uid) || (gid !== undefined && gid !== owner.gid)
  if (isOther)
    throw new ErrnoError('EPERM', `${node.path}: all documents belong to whoever mounted the drive`)
}

function applyAttributes(parts: SetattrParts, node: Node, change: AttributeChange): Entry {
  const { mode } = change
  const now = timeOfMs(parts.clock.wall())
  const at = (time: Time | 'now' | undefined): Time | undefined => (time === 'now' ? now : time)
  const [atime, mtime] = [at(change.atime), at(change.mtime)]
  if (mode === undefined && atime === undefined && mtime === undefined) node.times.set({}, now)
  else setTimes(parts.attributes, node, { mode, atime, mtime }, now)
  return entryOf(parts, node)
}

/**
 * Sets modes and times, and undoes that if they cannot be journaled. Not in a transaction: for a folder, and for a document
 * being written, nothing is journaled, and a transaction would cause a needless sync.
 */
function setTimes(
  attributes: AttributeStore,
  node: Node,
  change: Partial<Pick<Times, 'mode' | 'atime' | 'mtime'>>,
  now: Time,
): void {
  const { mode, atime, mtime, ctime } = node.times
  node.times.set(change, now)
  try {
    attributes.save(node)
  } catch (error) {
    node.times.freeze({ mode, atime, mtime, ctime })
    throw error
  }
}

/** Extends the document to `end` bytes. Does nothing with `keepSize`: a spool file reserves no space. */
export async function fallocate(
  parts: TruncateParts & HoleParts,
  fh: number,
  end: number,
  keepSize: boolean,
  caller: Caller,
): Promise<void> {
  const handle = parts.handles.file(fh)
  const { node, flags } = handle
  if (!flags.write) throw new ErrnoError('EBADF', `${node.path} is not open for writing`)
  if (keepSize) return
  if ((node.size ?? 0) >= end) return
  checkHole(parts, node, end)
  await makeWritableAs(parts, node, caller, handle.contentGeneration)
  const { content } = node
  if (content === undefined || content.size >= end) return
  markChanged(parts, node, 'longer', caller)
  node.local.wrote()
  await content.truncate(end)
}
