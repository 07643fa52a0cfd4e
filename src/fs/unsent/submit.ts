// The way down: from a dirty node to an intention in the queue. Close waits here.

import type { Job } from '../../content/commit/job.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import { keepBackup, type BackupParts } from './backup.ts'
import { discardContent, type DiscardParts } from './content.ts'
import { persistScratch } from './local-rows.ts'
import { giveToCache, type CacheParts } from './give-to-cache.ts'
import type { Caller } from '../operations.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Node } from '../tree/node.ts'
import type { OlderPlace } from '../tree/parts/unsent.ts'
import type { Bursts } from './bursts.ts'
import type { Claims } from './claims.ts'
import type { CloseWait } from './close-wait.ts'
import type { Unkept } from './unkept.ts'
import { isUnsubmitted } from './unsubmitted.ts'
import { isCopyMade, type OwnCopyParts } from './own-copy.ts'

export interface SubmitParts extends BackupParts {
  readonly spool: Spool
  readonly claims: Claims
  readonly closeWait: CloseWait
  readonly bursts: Bursts
  readonly unkept: Unkept
  readonly attributes: AttributeStore
}

export interface FlushParts extends SubmitParts, OwnCopyParts {}

export interface ReleaseParts extends SubmitParts, DiscardParts, CacheParts {}

/** With close-wait 0: how long a document rests before it is sent, so that quick saves in a row become one. */
const quietMs = 200
/** How long a file that was only created or emptied rests: a browser's placeholder, `touch`, `: > f`. */
const untouchedQuietMs = 1_000

/** Journals the node's content as it is now and hands it to the queue. Durable when this resolves; else it is named, and tried again. */
export async function commit(parts: SubmitParts, node: Node): Promise<Job | undefined> {
  try {
    return await keepNow(parts, node)
  } catch (error) {
    if (node.content !== undefined) parts.spool.describe(node.content, node.path)
    parts.unkept.refused(node, error)
    throw error
  }
}

async function keepNow(parts: SubmitParts, node: Node): Promise<Job | undefined> {
  const { content } = node
  if (node.isScratch) {
    await persistScratch(parts, node)
    return undefined
  }
  if (content === undefined) return submit(parts, node, undefined, -1)
  // What is written while it is synced goes into a copy: its own close sees to it.
  return parts.claims.hold(content, async () => {
    const { epoch } = content
    await parts.spool.secure(content)
    // A later close may have been faster.
    if (node.isUnlinked || node.isScratch || node.unsent.isNewerThan(content)) return node.job
    return submit(parts, node, content, epoch)
  })
}

/**
 * The journaling half of `commit`: the content is secured as of this epoch, or is a copy the service makes itself. It rests
 * for `restMs` before it is sent.
 */
export function submit(
  parts: SubmitParts,
  node: Node,
  content: SpoolFile | undefined,
  securedEpoch: number,
  restMs: number = usualRestMs(parts.closeWait, node),
): Job | undefined {
  const job = parts.journal.transaction(() => {
    parts.journal.onRollback(node)
    const arrived = keepBackup(parts, node.path)
    // Since the backup left, and our own.
    if (node.unsent.base === undefined) node.unsent.mayReplace(arrived)
    const handedIn = journalPut(parts, node, content, restMs)
    parts.attributes.handedIn(node, handedIn?.intention)
    return handedIn
  })
  for (let above = node.parent; above?.folder?.isOnlyHere === true; above = above.parent) {
    parts.journal.onRollback(above.folder.handIn())
  }
  parts.owners.handIn(node, job, { content, epoch: content === node.content ? securedEpoch : undefined })
  return job
}

/** Content and intention, in one. */
function journalPut(
  { queue, spool }: Pick<SubmitParts, 'queue' | 'spool'>,
  node: Node,
  content: SpoolFile | undefined,
  restMs: number,
): Job | undefined {
  const source = sourceOf(node)
  const job = queue.submit({
    kind: 'put',
    path: node.path,
    spool: content?.id,
    size: content?.size ?? node.size,
    digest: content?.digest,
    base: node.unsent.base,
    restMs,
    ...(source !== undefined && source.path !== node.path
      ? { source: source.path, sourceFingerprint: source.fingerprint, keepSource: node.unsent.isCopy }
      : {}),
  })
  if (content !== undefined && job !== undefined) spool.journal(content, node.path)
  return job
}

/** What the next commit takes away, or copies: the document's older place, or where the service has bytes that are not here. */
export function sourceOf(node: Node): OlderPlace | undefined {
  if (node.unsent.movesFrom !== undefined) return node.unsent.movesFrom
  const { elsewhere, fingerprint } = node.stored
  if (elsewhere === undefined || node.content !== undefined) return undefined
  return { path: elsewhere, fingerprint }
}

function usualRestMs(closeWait: CloseWait, node: Node): number {
  if (node.content !== undefined && !node.local.isWritten) return untouchedQuietMs
  return closeWait.isNone ? quietMs : 0
}

/**
 * close(2): commits what was written since the last commit, and waits as long as close may. Before the first write it
 * sends nothing (shells flush first); a refusal stays the answer until a later commit succeeds.
 */
export async function flush(parts: FlushParts, node: Node, caller: Caller): Promise<void> {
  if (node.isUnlinked) return
  if (isUnsubmitted(node)) {
    if (!node.local.isWritten && !node.isScratch) {
      // What was saved before is not given up for a file that its program may be about to fill: the last close decides.
      if (!isKnown(node)) journalUntouched(parts, node)
      return
    }
    const job = await commit(parts, node)
    if (job === undefined) return
    const { bursts, closeWait } = parts
    const close = { job, size: node.size ?? 0, caller }
    await bursts.wait(close, (each) => closeWait.wait(each, caller.signal))
    await keepCopy(parts, node, job, caller.signal)
  } else if (node.job?.intention.isRefused === true) {
    throw node.job.error
  }
}

/** Something of it is in the service, or was accepted by an earlier close. */
function isKnown(node: Node): boolean {
  return node.unsent.base !== undefined || node.remote !== undefined || node.job !== undefined
}

/**
 * A file that was only created so far: journaled, so that a kill does not undo it, and held until its last
 * writer is gone, since most programs write next (a shell flushes before the command it redirects has begun).
 */
function journalUntouched(parts: SubmitParts, node: Node): void {
  const job = submit(parts, node, node.content, node.content?.epoch ?? -1)
  if (job !== undefined) parts.queue.hold(job)
}

/** fsync(2): as flush, and it waits for what is on its way already, too. */
export async function fsync(parts: FlushParts, node: Node, signal: AbortSignal): Promise<void> {
  if (node.isUnlinked) {
    await node.content?.sync()
    return
  }
  const job = isUnsubmitted(node) ? await commit(parts, node) : node.job
  if (job === undefined) {
    await parts.journal.durable()
    return
  }
  if (job.intention.isRefused) throw job.error
  parts.queue.expedite((intention) => intention === job.intention)
  await parts.closeWait.wait(job, signal)
  await keepCopy(parts, node, job, signal)
}

/** A copy that the service has not made by now is saved as what is here is saved. */
async function keepCopy(parts: FlushParts, node: Node, job: Job, signal: AbortSignal): Promise<void> {
  if (await isCopyMade(parts, node, job, signal)) return
  parts.journal.transaction(() => {
    if (parts.queue.withdraw(job)) parts.owners.withdraw(node)
  })
  await commit(parts, node)
  await parts.journal.durable()
}

/** True for a document whose next close commits it anyway. */
export function isBeingWritten(node: Node): boolean {
  return node.door.writeHandles > 0 && isUnsubmitted(node)
}

/**
 * A document that is being written has moved: its close commits it, under the new name. Until then the journal has what
 * an earlier close accepted, which is in this spool file, or in the service; where there is nothing of the kind the close
 * is in time.
 */
export function commitAtClose(parts: SubmitParts, node: Node, accepted: string | undefined): undefined {
  const content = accepted === undefined ? undefined : parts.spool.get(accepted)
  if (content === undefined && node.unsent.movesFrom === undefined) return
  const job = submit(parts, node, content, -1)
  if (job !== undefined) parts.queue.hold(job)
}

/** The last close of a node: commits what no flush did, and gives clean content to the cache. */
export async function saveAfterRelease(parts: ReleaseParts, node: Node): Promise<void> {
  try {
    if (node.isUnlinked) {
      discardContent(parts, node)
    } else if (node.door.writeHandles === 0) {
      if (isUnsubmitted(node)) await commit(parts, node)
      else if (node.job?.isHeld === true) parts.queue.release(node.job)
      else if (!node.isDirty) giveToCache(parts, node)
    }
  } finally {
    if (node.door.openHandles === 0) node.content?.idle()
  }
  parts.tree.nodes.dropIfUnused(node)
}
