// Before a version is destroyed in the service: whoever else still shows it takes its bytes here.

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

/** The version at `path` is about to be destroyed: whoever else shows it takes its bytes here. */
export async function preserve(parts: PreserveParts, path: string, signal: AbortSignal): Promise<void> {
  const moving = parts.queue.first(path)
  const moved = moving?.intention.source === path ? parts.owners.of(moving.intention) : undefined
  for (const node of parts.tree.versions.shownElsewhere(path)) {
    if (node.content !== undefined) continue
    if (!node.isLocalOnly && node.door.openHandles === 0) continue
    // Its content is at its next place already: this is the last step of its own rename. (Not its last rename, maybe.)
    if (node === moved && !node.isLocalOnly) continue
    try {
      await bringHere(parts, node, signal)
      forgetStored(parts, node)
      // A copy, or a move, of what is gone now: the next close sends it.
      if (!node.isLocalOnly) node.local.unsaved()
    } catch (error) {
      warnWhereGone(parts, path, error)
    }
  }
  await keepReferred(parts, path, signal)
}

/** Throws what is anything else. */
function warnWhereGone({ log }: PreserveParts, path: string, error: unknown): void {
  if (!isGone(error)) throw error
  log.warn(
    { path },
    'another client replaced the document before its old content could be kept for those who had it open',
  )
}

/** Files of this machine have the bytes by now, or are gone, but what is on disk of them still says that the service has them. */
async function keepReferred(parts: PreserveParts, path: string, signal: AbortSignal): Promise<void> {
  const referring = parts.journal.localFiles.referringTo(path).map((file) => parts.tree.find(file))
  const here = referring.filter((node) => node?.isLocalOnly === true && node.content !== undefined)
  for (const node of here) {
    if (node === undefined) continue
    if (!isBeingWritten(node)) await persistScratch(parts, node)
    else await keepAccepted(parts, node, signal).catch((error: unknown) => warnWhereGone(parts, path, error))
  }
  if (here.length > 0 || parts.journal.ended.mayResurfaceReference(path)) await parts.journal.durable()
}

/**
 * The service has the version that was accepted; the content here is not closed, and may never be. The row gets a
 * content of its own.
 */
async function keepAccepted(parts: PreserveParts, node: Node, signal: AbortSignal): Promise<void> {
  const { journal, spool, claims, reader } = parts
  const referred = (): ScratchRow['reference'] =>
    node.isUnlinked ? undefined : journal.localFiles.at(node.path)?.reference
  const version = referred()
  if (version === undefined) return
  const copy = spool.create(node.name)
  await claims.hold(copy, async () => {
    if (version.size !== 0) await copy.use((fd) => reader.copyTo(version, fd, { signal }))
    copy.remeasure()
    await copy.sync()
    // Its close may have come meanwhile.
    if (referred()?.path === version.path)
      journal.localFiles.save({ path: node.path, spool: copy.id, reference: undefined })
  })
  copy.idle()
}
