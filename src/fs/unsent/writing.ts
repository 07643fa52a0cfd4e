// Changes of a document's content by programs: in its spool file, or in a copy if an intention or another node needs that file as it
// is. Content that is only in the service is brought here first (copy-up).

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Clock } from '../../world/clock.ts'
import { attributesOf, timeOfMs, type Owner } from '../tree/attributes.ts'
import { beginSave, type Change } from '../tree/begin-save.ts'
import type { Caller } from '../operations.ts'
import type { HandleTable } from '../tree/handles.ts'
import type { Node } from '../tree/node.ts'
import type { Looker } from '../tree/seen.ts'
import type { Tree } from '../tree/tree.ts'
import { bringHere, type BringParts } from './bring-here.ts'
import { rebindReaders, takeContent, type TakeContentParts } from './content.ts'
import type { SaveFailures } from './save-failures.ts'

export interface TouchParts {
  readonly owner: Owner
  readonly clock: Clock
}

export interface ChangeParts extends TouchParts {
  readonly tree: Tree
  readonly queue: CommitQueue
  readonly journal: Journal
}

/** A call that may wait. Its signal is read only if it does: creating one costs as much as a write. */
type Waiting = Pick<Caller, 'signal'>
type Changing = Waiting & Looker

export interface TruncateParts extends BringParts, ChangeParts {
  readonly handles: HandleTable
  readonly saveFailures: SaveFailures
}

/**
 * Prepares a change of the content: brings it here (copy-up), or copies it if an intention names it, which must not change.
 * `length`: so many bytes are enough, since the rest is cut off. Returns undefined if the content may be changed now; otherwise the
 * caller waits, and calls again, since a close may have come meanwhile.
 */
export function makeWritable(
  parts: BringParts,
  node: Node,
  caller: Waiting,
  length?: number,
): Promise<void> | undefined {
  const { content } = node
  if (node.isUnlinked && node.door.openHandles === 0) throw new ErrnoError('ESTALE', `${node.path} is gone`)
  if (content === undefined || node.local.copyUp !== undefined)
    return bringHere(parts, node, caller.signal, length)
  if (parts.claims.mayChange(node)) return undefined
  const bytes = Math.min(length ?? content.size, content.size)
  const copy =
    bytes === 0 ? parts.spool.create(node.name) : parts.spool.smallCopyOf(content, node.name, bytes)
  if (copy !== undefined) {
    takeCopy(parts, node, copy, bytes === content.size)
    return undefined
  }
  const copying = parts.claims.hold(content, async () => {
    const { contentGeneration } = node.door
    const large = await parts.spool.copyOf(content, node.name, bytes)
    // Another client's version may have come meanwhile: the next look finds it.
    if (node.door.contentGeneration === contentGeneration)
      takeCopy(parts, node, large, bytes === content.size)
    else await parts.spool.remove(large.id)
  })
  return node.local.bring(copying)
}

/**
 * Like `makeWritable`, and waits until it is done, for a call that depends on the length of the content of `generation`. Throws ESTALE
 * if another client's version has replaced that: a length is not applied to another version.
 */
export async function makeWritableAs(
  parts: BringParts,
  node: Node,
  caller: Waiting,
  generation: number,
  length?: number,
): Promise<void> {
  for (let wait: Promise<void> | undefined; ; await wait) {
    if (node.door.contentGeneration !== generation)
      throw new ErrnoError('ESTALE', `${node.path} is another client’s version now`)
    wait = node.local.copyUp ?? makeWritable(parts, node, caller, length)
    if (wait === undefined) return
  }
}

/** Makes a copy the node's content; `isWhole`: it has all bytes, so that it counts as saved if the original did. */
function takeCopy(parts: TakeContentParts, node: Node, copy: SpoolFile, isWhole: boolean): void {
  const isSaved = isWhole && !node.isDirty
  takeContent(parts, node, copy)
  if (isSaved) node.local.saved()
}

/** Notes that the content changes now: decides the version that the save may replace, stops the upload of it, and sets the times. */
export function markChanged(parts: ChangeParts, node: Node, change: Change, looker: Looker): void {
  beginSave(parts.tree.seen, node, change, looker)
  // Content that was sent, and is changed in place now, must survive a crash again. First, since the journal may refuse that.
  if (!node.isUnlinked && !node.isDirty && node.content?.digest !== undefined)
    parts.journal.dropped.remove(node.content.id)
  // Not a move, which sends no bytes of the document; nor for an unlinked one, whose close hands in nothing new.
  const { job } = node
  if (job?.intention.spool !== undefined && !job.isHeld && !node.isUnlinked) parts.queue.hold(job)
  if (!node.isUnlinked) parts.tree.places.keep(node)
  touch(parts, node)
}

/** Sets the time of change to now, as a write does. */
export function touch(parts: TouchParts, node: Node): void {
  const now = timeOfMs(parts.clock.wall())
  node.times.changed(now, attributesOf(node, parts.owner).atime)
}

/** Sets the size. `generation`: that of the content by which the caller decided. A cut to 0 bytes downloads nothing. */
export async function truncateContent(
  parts: TruncateParts,
  node: Node,
  size: number,
  caller: Changing,
  generation: number,
): Promise<void> {
  if (node.local.copyUp !== undefined) await node.local.copyUp
  if (node.size === size && (node.content !== undefined || node.remote !== undefined)) return
  if (node.content === undefined && size === 0) {
    takeContent(parts, node, parts.spool.create(node.name))
  }
  const known = node.size
  const length = known !== undefined && size < known ? size : undefined
  if (size > 0) await makeWritableAs(parts, node, caller, generation, length)
  else for (let wait; (wait = makeWritable(parts, node, caller, length)) !== undefined;) await wait
  const { content } = node
  if (content === undefined) throw new ErrnoError('EIO', `${node.path}: no content to cut`)
  markChanged(parts, node, size === 0 ? 'anew' : length === undefined ? 'longer' : 'in place', caller)
  try {
    // An empty file of its own has nothing to cut.
    if (content.size !== size) await content.truncate(size)
  } catch (error) {
    // No close may follow that would save the content.
    parts.saveFailures.refused(node, error)
    throw error
  }
  if (size === 0) for (const handle of parts.handles.of(node)) handle.renew()
  rebindReaders(parts.handles, node)
}
