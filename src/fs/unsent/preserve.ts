// Preserves a version that is about to be destroyed in the service, for other documents here that still show it.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Reader } from '../../content/read/reader.ts'
import type { ScratchRow } from '../../content/spool/journal-rows.ts'
import type { Log } from '../../log.ts'
import type { Node } from '../tree/node.ts'
import { bringHere, isGone, type BringParts } from './bring-here.ts'
import { forgetStored } from './content.ts'
import { persistScratch, type LocalRowParts } from './local-rows.ts'
import type { Owners } from './owners.ts'
import { isBeingWritten } from './unsubmitted.ts'

export interface PreserveParts extends BringParts, LocalRowParts {
  readonly queue: CommitQueue
  readonly owners: Owners
  readonly reader: Reader
  readonly log: Log
}

/** Copies the version at `path`, which is about to be destroyed, to this machine for every other node that shows it. */
export async function preserve(parts: PreserveParts, path: string, signal: AbortSignal): Promise<void> {
  const moving = parts.queue.first(path)
  const moved = moving?.intention.source === path ? parts.owners.of(moving.intention) : undefined
  for (const node of parts.tree.versions.shownElsewhere(path)) {
    if (node.content !== undefined) continue
    if (!node.isLocalOnly && node.door.openHandles === 0) continue
    // Its content is at its next path already: this is the last step of its own rename, be it an earlier one than its latest.
    if (node === moved && !node.isLocalOnly) continue
    try {
      await bringHere(parts, node, signal)
      forgetStored(parts, node)
      // A copy or a move of a version that is gone now: the next close sends its content.
      if (!node.isLocalOnly) node.local.unsaved()
    } catch (error) {
      warnWhereGone(parts, path, error)
    }
  }
  await keepReferred(parts, path, signal)
}

/** Logs a warning if the version is gone; throws any other error. */
function warnWhereGone({ log }: PreserveParts, path: string, error: unknown): void {
  if (!isGone(error)) throw error
  log.warn(
    { path },
    'another client replaced the document before its old content could be kept for those who had it open',
  )
}

/** Updates rows of local-only files that still refer to the version: the files have its bytes by now, or are gone. */
async function keepReferred(parts: PreserveParts, path: string, signal: AbortSignal): Promise<void> {
  const referring = parts.journal.localFiles.referringTo(path).map((file) => parts.tree.find(file))
  const fetched = referring.filter((node) => node?.isLocalOnly === true && node.content !== undefined)
  for (const node of fetched) {
    if (node === undefined) continue
    if (!isBeingWritten(node)) await persistScratch(parts, node)
    else await keepAccepted(parts, node, signal).catch((error: unknown) => warnWhereGone(parts, path, error))
  }
  if (fetched.length > 0 || parts.journal.undurableDeletes.mayResurfaceReference(path))
    await parts.journal.durable()
}

/**
 * Gives the row of a file that is being written a copy of the version accepted last, which is about to be destroyed: the
 * content being written is not closed yet, and may never be.
 */
async function keepAccepted(parts: PreserveParts, node: Node, signal: AbortSignal): Promise<void> {
  const { journal, spool, claims, reader } = parts
  const referred = (): ScratchRow['reference'] =>
    node.isUnlinked ? undefined : journal.localFiles.at(node.path)?.reference
  const version = referred()
  if (version === undefined) return
  const copy = spool.create(node.name)
  await claims.hold(copy, async () => {
    if (version.size !== 0) await copy.fill((fd) => reader.copyTo(version, fd, { signal }))
    await copy.sync()
    // Its close may have come meanwhile.
    if (referred()?.path === version.path)
      journal.localFiles.save({ path: node.path, spool: copy.id, reference: undefined })
  })
  copy.idle()
}
