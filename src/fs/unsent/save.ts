// From a dirty node to an intention, and back when the service has it. Close waits here.

import type { RemoteFile } from '../../api/types.ts'
import { blockSizeBytes } from '../../content/extent.ts'
import { waitForJob, type Job } from '../../content/commit/job.ts'
import { fingerprintOf } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import { attributesOf } from '../tree/attributes.ts'
import { discardContent, persistScratch, rebindReaders, refer, stopReferring } from './content.ts'
import type { Node, OlderPlace } from '../tree/node.ts'
import type { Superblock } from '../superblock.ts'

/** With close-wait 0: how long a document rests before it is sent, so that quick saves in a row become one. */
const quietMs = 200
/** How long a file that was only created or emptied rests: a browser's placeholder, `touch`, `: > f`. */
const untouchedQuietMs = 1_000

/** Journals the node's content as it is now and hands it to the queue. Durable when this resolves. */
export async function commit(sb: Superblock, node: Node): Promise<Job | undefined> {
  const { content } = node
  if (node.isScratch) {
    await persistScratch(sb, node)
    return undefined
  }
  // What is written while it is synced counts as unsubmitted: its own close sees to it.
  const syncedEpoch = content?.epoch ?? -1
  if (content !== undefined) await sb.spool.secure(content)
  if (node.isUnlinked || node.content !== content || node.isScratch) return node.job
  return submit(sb, node, syncedEpoch)
}

/** The journaling half of `commit`: the content is secured as of this epoch, or is a copy the service makes itself. */
export function submit(sb: Superblock, node: Node, syncedEpoch: number): Job | undefined {
  const job = sb.journal.transaction(() => journalPut(sb, node))
  node.movesFrom = undefined
  node.isWritten = false
  node.submittedEpoch = syncedEpoch
  node.job = job
  if (job !== undefined) sb.owners.set(job.intention.id, node)
  return job
}

/** Content and intention, in one. */
function journalPut(sb: Superblock, node: Node): Job | undefined {
  const { content } = node
  const source = sourceOf(node)
  const job = sb.queue.submit({
    kind: 'put',
    path: node.path,
    spool: content?.id,
    size: node.size,
    base: node.base,
    notBefore: sb.now() + restMs(sb, node),
    ...(source !== undefined && source.path !== node.path
      ? { source: source.path, sourceFingerprint: source.fingerprint, keepSource: node.isCopy }
      : {}),
  })
  if (content !== undefined && job !== undefined) sb.spool.journal(content)
  return job
}

/** What the next commit takes away, or copies: the document's older place, or where the service has bytes that are not here. */
export function sourceOf(node: Node): OlderPlace | undefined {
  if (node.movesFrom !== undefined && !node.isCopy) return node.movesFrom
  const { remote, remotePath } = node
  if (remote === undefined || remotePath === undefined || (node.content !== undefined && !node.isCopy))
    return undefined
  return { path: remotePath, fingerprint: fingerprintOf(remote) }
}

function restMs(sb: Superblock, node: Node): number {
  if (node.content !== undefined && !node.isWritten) return untouchedQuietMs
  return sb.settings.closeWaitMs === 0 ? quietMs : 0
}

/**
 * close(2): commits what was written since the last commit, and waits as long as close may. Before the first write it
 * sends nothing (shells flush first); a refusal stays the answer until a later commit succeeds.
 */
export async function flush(sb: Superblock, node: Node, signal: AbortSignal): Promise<void> {
  if (node.isUnlinked) return
  if (isUnsubmitted(node)) {
    if (!node.isWritten && !node.isScratch) {
      journalUntouched(sb, node)
      return
    }
    const job = await commit(sb, node)
    if (job !== undefined) await waitForService(sb, job, signal)
  } else if (node.job?.intention.isRefused === true) {
    throw node.job.error
  }
}

/**
 * A file that was only created or emptied so far: journaled, so that a kill does not undo it, and held until its last
 * writer is gone, since most programs write next (a shell flushes before the command it redirects has begun).
 */
function journalUntouched(sb: Superblock, node: Node): void {
  const job = submit(sb, node, node.content?.epoch ?? -1)
  if (job !== undefined) sb.queue.hold(job)
}

/** fsync(2): as flush, and it waits for what is on its way already, too. */
export async function fsync(sb: Superblock, node: Node, signal: AbortSignal): Promise<void> {
  if (node.isUnlinked) {
    await node.content?.sync()
    return
  }
  const job = isUnsubmitted(node) ? await commit(sb, node) : node.job
  if (job === undefined) {
    await sb.journal.durable()
    return
  }
  sb.queue.expedite((intention) => intention === job.intention)
  await waitForService(sb, job, signal)
}

/** True for a document whose next close commits it anyway. */
export function isBeingWritten(node: Node): boolean {
  return node.writeHandles > 0 && isUnsubmitted(node)
}

/**
 * A document that is being written has moved: its close commits it, under the new name. What an earlier close accepted
 * must not be without a journal row until then, and its place among the moves of a folder must be kept.
 */
export function commitAtClose(sb: Superblock, node: Node): undefined {
  const { isWritten } = node
  const job = submit(sb, node, -1)
  if (job !== undefined) sb.queue.hold(job)
  node.isWritten = isWritten
}

/** True when the content changed since it was last handed to the queue. */
export function isUnsubmitted(node: Node): boolean {
  if (node.isCopy && node.content === undefined) return node.job === undefined
  return node.isDirty && node.content?.epoch !== node.submittedEpoch
}

/** Waits at most close-wait; what takes longer, or meets a service out of reach, is journaled and goes on by itself. */
export async function waitForService(sb: Superblock, job: Job, signal: AbortSignal): Promise<void> {
  const { closeWaitMs } = sb.settings
  if (closeWaitMs === 0) return sb.journal.durable()
  const outcome = await waitForJob(job, {
    timeoutMs: closeWaitMs,
    signal,
    untilUnreachable: closeWaitMs !== Infinity,
  })
  if (outcome === 'done') return
  await sb.journal.durable()
  sb.log.info({ path: job.intention.path, outcome }, 'saved here; sending goes on in the background')
}

/** The last close of a node: commits what no flush did, and gives clean content to the cache. */
export async function saveAfterRelease(sb: Superblock, node: Node): Promise<void> {
  if (node.isUnlinked) {
    discardContent(sb, node)
  } else if (node.writeHandles === 0) {
    if (isUnsubmitted(node)) await commit(sb, node)
    else if (node.job?.isHeld === true) sb.queue.release(node.job)
    else if (!node.isDirty) giveToCache(sb, node)
  }
  if (node.openHandles === 0) node.content?.idle()
  sb.tree.nodes.dropIfUnused(node)
}

/** What the service has too need not be kept here as local content: the cache takes the file over. */
export function giveToCache(sb: Superblock, node: Node): void {
  const { content, version } = node
  if (content === undefined || version === undefined || node.isScratch || node.isDirty) return
  // What a commit still carries, somebody may still write, or another node shows, stays.
  if (node.job !== undefined || node.writeHandles > 0 || sb.contents.get(content.id) !== node) return
  node.content = undefined
  sb.contents.delete(content.id)
  rebindReaders(sb, node)
  if (content.size <= blockSizeBytes) {
    sb.reader.keep(version, content.readAll())
    void sb.spool.remove(content.id).catch(() => {})
    return
  }
  sb.spool.forget(content.id)
  node.handover = sb.reader
    .adopt(version, content.path)
    .catch(async (error: unknown) => {
      sb.log.warn({ path: version.path, error: String(error) }, 'the cache did not take a document over')
      await sb.spool.remove(content.id)
    })
    .finally(() => {
      node.handover = undefined
    })
}

/** The service agreed with an intention: the tree follows. Synchronous: it is part of the journal's transaction. */
export function committed(sb: Superblock, intention: Intention, record: RemoteFile | undefined): void {
  const node = sb.owners.get(intention.id)
  sb.owners.delete(intention.id)
  settleWhatLeft(sb, intention)
  if (node === undefined || record === undefined) {
    if (intention.spool !== undefined) dropSpool(sb, intention.spool)
    return
  }
  const isLatest = node.job === undefined || node.job.intention.id === intention.id
  if (isLatest) node.job = undefined
  if (node.path !== intention.path || node.isScratch) {
    foundElsewhere(sb, node, intention.path, record)
    return
  }
  stopReferring(sb, node)
  // The service dates what it stores; here a document keeps the time it was written, also when it is renamed.
  const { mode, mtime } = attributesOf(node, sb.owner)
  sb.tree.show(node, record, sb.now())
  node.isCopy = false
  node.mode = mode
  node.mtime = mtime
  if (isLatest && node.content !== undefined && node.content.id === intention.spool) {
    node.savedEpoch = node.content.epoch
  }
  if (node.isUnlinked) {
    discardContent(sb, node)
    return
  }
  sb.attributes.save(node)
  landFolders(sb, node)
  // What is still to be sent, or being written, is no listing's to decide.
  if (isLatest && !node.isDirty) sb.tree.settle(node)
  else sb.tree.settleFolders(node)
  if (isLatest) giveToCache(sb, node)
  rebindReaders(sb, node)
  sb.tree.nodes.dropIfUnused(node)
}

/** The service has an older state of content that is being written again: the next commit stands on that. */
export function outpaced(sb: Superblock, intention: Intention, record: RemoteFile | undefined): void {
  settleWhatLeft(sb, intention)
  const node = sb.owners.get(intention.id)
  if (node === undefined || record === undefined) return
  if (node.path !== intention.path || node.isScratch) {
    foundElsewhere(sb, node, intention.path, record)
    return
  }
  stopReferring(sb, node)
  node.remote = record
  node.remotePath = undefined
  node.askedAt = sb.now()
  node.base = fingerprintOf(record)
  landFolders(sb, node)
}

/** A node moved on while its commit was under way: here is where the next step finds it. */
function foundElsewhere(sb: Superblock, node: Node, path: string, record: RemoteFile): void {
  if (node.isScratch && node.content !== undefined) return
  node.remote = record
  refer(sb, node, path)
}

/** What the intention took away is gone from the service. */
function settleWhatLeft(sb: Superblock, intention: Intention): void {
  const { kind, path, base, source, sourceFingerprint, keepSource } = intention
  if (kind !== 'put') settleAway(sb, path, base)
  else if (source !== undefined && keepSource !== true) settleAway(sb, source, sourceFingerprint)
}

/** The folders above exist in the service now. */
function landFolders(sb: Superblock, node: Node): void {
  for (let folder = node.parent; folder?.folder !== undefined; folder = folder.parent) {
    if (folder.folder.isMadeHere) landed(sb, folder)
  }
}

/** A folder made here is in the service now. */
export function landed(sb: Superblock, folder: Node): void {
  if (folder.folder === undefined) return
  folder.folder.isMadeHere = false
  folder.settledAt = sb.now()
  sb.journal.removeFolder(folder.path)
}

/** Nothing is at this path any more. */
function settleAway(sb: Superblock, path: string, fingerprint: string | undefined): void {
  const slash = path.lastIndexOf('/')
  const folder = sb.tree.find(slash === 0 ? '/' : path.slice(0, slash))
  if (folder !== undefined) sb.tree.settleTombstone(folder, path.slice(slash + 1), fingerprint)
  sb.attributes.forget(path)
}

/** The intention goes on as another one. */
export function replaced(sb: Superblock, intention: Intention, successor: Job | undefined): void {
  const node = sb.owners.get(intention.id)
  sb.owners.delete(intention.id)
  if (node === undefined) return
  if (successor !== undefined) sb.owners.set(successor.intention.id, node)
  if (node.job?.intention.id === intention.id) node.job = successor
}

/** A newer intention took this one's place: its content may be of no use any more. */
export function superseded(sb: Superblock, intention: Intention): void {
  const node = sb.owners.get(intention.id)
  sb.owners.delete(intention.id)
  if (node?.job?.intention.id === intention.id) node.job = undefined
  if (intention.spool !== undefined) dropSpool(sb, intention.spool)
}

/** A spool file whose intention is over is removed, unless a node still shows it or another intention carries it. */
function dropSpool(sb: Superblock, id: string): void {
  const node = sb.contents.get(id)
  if (node !== undefined) {
    discardContent(sb, node)
    return
  }
  for (const job of sb.queue.jobs()) if (job.intention.spool === id) return
  void sb.spool.remove(id).catch(() => {})
}

/** A delete the service refuses for good: the document is still there, so it shows again. */
export function refused(sb: Superblock, intention: Intention): void {
  if (intention.kind !== 'delete') return
  const job = sb.queue.find(intention.path)
  if (job === undefined || job.intention.id !== intention.id) return
  sb.queue.abandon(job)
  const slash = intention.path.lastIndexOf('/')
  const folder = sb.tree.find(slash === 0 ? '/' : intention.path.slice(0, slash))
  if (folder !== undefined) sb.tree.unbury(folder, intention.path.slice(slash + 1))
  sb.log.error(
    { path: intention.path, error: intention.lastError },
    'the service refused to delete it: it is shown again',
  )
}
