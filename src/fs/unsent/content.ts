// A node's content: read from the spool where it is local, from the service where not; brought here by the first write.

import { ErrnoError } from '../../errno-error.ts'
import type { Version } from '../../content/fingerprint.ts'
import { waitForJob } from '../../content/commit/job.ts'
import type { SpoolFile } from '../../content/spool/spool.ts'
import { attributesOf, timeOfMs } from '../tree/attributes.ts'
import type { FileHandle } from '../tree/handles.ts'
import type { Node } from '../tree/node.ts'
import type { MaybePromise } from '../operations.ts'
import type { Superblock } from '../superblock.ts'

/** How long a read or write waits for our own commit of the same document, which takes its bytes elsewhere. */
export const ownCommitMs = 10_000

/** The bytes of the range, shorter only at the end of the content. */
export function readContent(
  sb: Superblock,
  handle: FileHandle,
  offset: number,
  length: number,
  signal: AbortSignal,
): MaybePromise<readonly Uint8Array[]> {
  const { node } = handle
  if (node.content !== undefined && node.local.copyUp === undefined) {
    const chunk = node.content.read(offset, length)
    return chunk instanceof Promise ? chunk.then((bytes) => [bytes]) : [chunk]
  }
  if (node.local.handover !== undefined)
    return node.local.handover.then(() => readContent(sb, handle, offset, length, signal))
  if (handle.reading === undefined) {
    const { version } = node
    if (version === undefined) return []
    if (node.remote !== undefined) sb.urls.remember(version.path, node.remote, node.stored.askedAt)
    handle.bind(sb.reader.open(version))
  }
  return handle.reading?.read(offset, length, signal) ?? []
}

/**
 * The content will be changed: brought here first (copy-up), or copied where somebody else needs it as it is, since what
 * an intention names never changes. `length` bytes are enough where the rest is cut off anyway. At once where nothing is
 * to be done; looked at again after a wait, in which a close may have come.
 */
export function makeWritable(
  sb: Superblock,
  node: Node,
  signal: AbortSignal,
  length?: number,
): Promise<void> | undefined {
  const { content } = node
  if (content === undefined || node.local.copyUp !== undefined) return bringHere(sb, node, signal, length)
  if (sb.claims.isOnlyOf(node)) return undefined
  const bytes = Math.min(length ?? content.size, content.size)
  const copy = bytes === 0 ? sb.spool.create(node.name) : sb.spool.smallCopyOf(content, node.name, bytes)
  if (copy !== undefined) {
    takeCopy(sb, node, copy, bytes === content.size)
    return undefined
  }
  const copying = sb.claims.hold(content, async () => {
    const large = await sb.spool.copyOf(content, node.name, bytes)
    takeCopy(sb, node, large, bytes === content.size)
  })
  return node.local.bring(copying)
}

/** The same content in a file of the node's own. */
function takeCopy(sb: Superblock, node: Node, copy: SpoolFile, isWhole: boolean): void {
  const isSaved = isWhole && !node.isDirty
  takeContent(sb, node, copy)
  if (isSaved) node.local.saved()
}

/** Brings the content here (copy-up). `length` bytes are enough where the rest is cut off anyway. */
export async function bringHere(
  sb: Superblock,
  node: Node,
  signal: AbortSignal,
  length?: number,
): Promise<void> {
  if (node.local.copyUp !== undefined) await node.local.copyUp
  if (node.content !== undefined) return
  await node.local.bring(copyUp(sb, node, signal, length))
}

/** A version that goes because of our own commit or rename is found again at its new place. */
async function copyUp(
  sb: Superblock,
  node: Node,
  signal: AbortSignal,
  length: number | undefined,
): Promise<void> {
  await node.local.handover
  const { version } = node
  try {
    await copyVersion(sb, node, signal, length)
  } catch (error) {
    if (!isGone(error)) throw error
    if (node.job !== undefined) await waitForJob(node.job, { timeoutMs: ownCommitMs, signal })
    else if (isSameVersion(node.version, version)) throw error
    await copyVersion(sb, node, signal, length).catch((second: unknown) => {
      throw stillMoving(node, second)
    })
  }
}

function isSameVersion(one: Version | undefined, other: Version | undefined): boolean {
  return one?.path === other?.path && one?.fingerprint === other?.fingerprint
}

/** True where a version is not, or no longer, where it was looked for. */
export function isGone(error: unknown): boolean {
  return error instanceof ErrnoError && (error.code === 'ESTALE' || error.code === 'ENOENT')
}

/** What to say of bytes that were not found: while their own rename is under way they are between two places. */
export function stillMoving(node: Node, error: unknown): unknown {
  if (!isGone(error) || node.job === undefined) return error
  return new ErrnoError('ETIMEDOUT', `${node.path} is still being moved in the service`, { cause: error })
}

async function copyVersion(
  sb: Superblock,
  node: Node,
  signal: AbortSignal,
  length: number | undefined,
): Promise<void> {
  const { version } = node
  const file = sb.spool.create(node.name)
  try {
    if (version !== undefined && version.size !== 0) {
      if (node.remote !== undefined) sb.urls.remember(version.path, node.remote, node.stored.askedAt)
      await file.use((fd) =>
        sb.reader.copyTo(version, fd, { ...(length === undefined ? {} : { length }), signal }),
      )
      file.remeasure()
    }
  } catch (error) {
    await sb.spool.remove(file.id)
    throw error
  }
  takeContent(sb, node, file)
  if (length === undefined) node.local.saved()
}

/** The node's content is this spool file from now on. */
export function takeContent(sb: Superblock, node: Node, file: SpoolFile): void {
  sb.claims.show(node, file)
  node.unsent.contentReplaced()
  // What the service has is the document it was copied from, and nothing of this file's any more.
  if (node.isScratch) forgetStored(sb, node)
}

/** The content changes now: what is on its way of it stops, and the times say so. */
export function markChanged(sb: Superblock, node: Node): void {
  // A move sends nothing of it: what it moves is in the service.
  if (node.job?.intention.spool !== undefined && !node.job.isHeld) sb.queue.hold(node.job)
  // What was sent, and is changed in place now, is of use again.
  if (node.content?.digest !== undefined && !node.isDirty) sb.journal.keep(node.content.id)
  node.settledAt = undefined
  if (!node.isUnlinked) sb.tree.keep(node)
  touch(sb, node)
}

/** The content is from now: written, not read. */
export function touch(sb: Superblock, node: Node): void {
  const now = timeOfMs(sb.clock.wall())
  node.times.changed(now, attributesOf(node, sb.owner).atime)
}

/** Sets the size: cutting to nothing downloads nothing. */
export async function truncateContent(
  sb: Superblock,
  node: Node,
  size: number,
  signal: AbortSignal,
): Promise<void> {
  if (node.local.copyUp !== undefined) await node.local.copyUp
  if (node.size === size && (node.content !== undefined || node.remote !== undefined)) return
  if (node.content === undefined && size === 0) {
    takeContent(sb, node, sb.spool.create(node.name))
  }
  const known = node.size
  const length = known !== undefined && size < known ? size : undefined
  for (let wait; (wait = makeWritable(sb, node, signal, length)) !== undefined;) await wait
  const { content } = node
  if (content === undefined) throw new ErrnoError('EIO', `${node.path}: no content to cut`)
  markChanged(sb, node)
  await content.truncate(size)
  rebindReaders(sb, node)
}

/** Handles that read another version follow the node: this change is our own. */
export function rebindReaders(sb: Superblock, node: Node): void {
  if (node.door.openHandles === 0) return
  const current = node.stored.fingerprint
  for (const handle of sb.handles.of(node)) {
    if (handle.reading !== undefined && (node.content !== undefined || handle.fingerprint !== current))
      handle.rebind()
  }
}

/** The version at `path` is about to be destroyed: whoever else shows it takes its bytes here. */
export async function preserve(sb: Superblock, path: string, signal: AbortSignal): Promise<void> {
  const moving = sb.queue.first(path)
  const moved = moving?.intention.source === path ? sb.owners.of(moving.intention) : undefined
  for (const node of sb.tree.versions.shownElsewhere(path)) {
    if (node.content !== undefined) continue
    if (!node.isScratch && node.door.openHandles === 0) continue
    // Its content is at its next place already: this is the last step of its own rename. (Not its last rename, maybe.)
    if (node === moved && !node.isScratch) continue
    try {
      await bringHere(sb, node, signal)
      forgetStored(sb, node)
      if (!node.isScratch) {
        // A copy, or a move, of what is gone now: the next close sends it.
        node.local.unsaved()
        continue
      }
      await persistScratch(sb, node)
      await sb.journal.durable()
    } catch (error) {
      if (!isGone(error)) throw error
      sb.log.warn(
        { path },
        'another client replaced the document before its old content could be kept for those who had it open',
      )
    }
  }
}

/** The node's content is here, and no longer in the service. */
export function forgetStored(sb: Superblock, node: Node): void {
  node.times.pin(attributesOf(node, sb.owner))
  sb.tree.versions.forget(node)
}

/** Makes a local-only file survive a restart. */
export async function persistScratch(sb: Superblock, node: Node): Promise<void> {
  const { content } = node
  const epoch = content?.epoch
  await content?.sync()
  if (node.isUnlinked || !node.isScratch) return
  saveScratchRow(sb, node)
  if (epoch !== undefined) node.local.saved(epoch)
}

/** The journaling half of it, for a transaction of the caller's: the content is synced already. */
export function saveScratchRow(sb: Superblock, node: Node): void {
  const { content, version } = node
  const reference = content === undefined && version !== undefined ? version : undefined
  sb.journal.saveScratch({ path: node.path, spool: content?.id, reference })
  sb.localOnly.changed(node)
}

/** Lets go of local content that no name and no handle leads to; a crash while one is open loses nothing with it. */
export function discardContent(sb: Superblock, node: Node): void {
  const { content } = node
  if (content === undefined || !node.isUnlinked) return
  if (node.door.openHandles === 0) sb.claims.show(node, undefined)
  else sb.journal.drop(content.id)
}
