// Removing a folder without ever removing more than was asked. What was deleted in it a moment ago goes with it, in one
// call: the service's delete is recursive (interface, "DELETE /projects/{project_name}/files").

import type { FolderListing, RemoteFile, RemoteFolder } from '../../api/types.ts'
import { abortable } from '../../abortable.ts'
import { ErrnoError } from '../../errno-error.ts'
import { fingerprintOf, isNewer, modifiedAtIn } from '../../content/fingerprint.ts'
import { waitForJob, type Job } from '../../content/commit/job.ts'
import { lookUp } from '../../content/remote-lookup.ts'
import { preserve } from '../unsent/content.ts'
import { stayThoughEmpty } from './folders.ts'
import { childOf, withListing } from './lookup.ts'
import { rmdirHere } from './rmdir-here.ts'
import type { FolderState, Node } from '../tree/node.ts'
import type { Caller } from '../operations.ts'
import type { Superblock } from '../superblock.ts'

/** How long rmdir waits for what is on its way under the folder: nothing but a waiting close blocks longer. */
const drainBeforeRemovalMs = 14_000
const callDeadlineMs = 14_000

/**
 * rmdir(2). Lists afresh before it deletes: whatever stands there and was not deleted here makes it ENOTEMPTY. Throws EBUSY
 * where what is on its way under the folder takes too long.
 */
export async function rmdir(sb: Superblock, parent: number, name: string, caller: Caller): Promise<void> {
  const { signal } = caller
  const above = sb.tree.nodes.getFolder(parent)
  const node = await withListing(sb, above, caller, (listing) => childOf(sb, above, name, listing))
  const state = node.folder
  if (state === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document`)
  if (state.kept.size > 0 && [...state.kept].some((kept) => state.children.get(kept)?.folder === undefined))
    throw notEmpty(node)
  if (state.isOnlyHere) {
    if (state.kept.size > 0) throw notEmpty(node)
    removeFolder(sb, above, node)
    return
  }
  if (sb.files.reach.isAway) return rmdirHere(sb, above, node, caller)
  // A document that had the folder's name before has a delete of its own.
  const own = pendingDelete(sb, node.path)
  const untried = sb.queue.untriedDeletes(node.path).filter((job) => job !== own)
  await drainUnder(sb, node.path, signal, own === undefined ? untried : [...untried, own])
  const standing = await standingAt(sb, node, own, signal)
  const isLeft = (entry: RemoteFile | RemoteFolder): boolean => !isLeaving(entry, state)
  if (state.kept.size > 0 || standing?.entries.some(isLeft) === true) {
    sb.tree.listings.forget(node)
    sb.queue.distrust(untried)
    throw notEmpty(node)
  }
  if (standing !== undefined) await deleteWhole(sb, node, untried, signal)
  await drainUnder(sb, node.path, signal)
  removeFolder(sb, above, node)
}

/** The delete of a document at this path that the service has not heard of yet. */
export function pendingDelete(sb: Superblock, path: string): Job | undefined {
  const job = sb.queue.find(path)
  return job?.intention.kind === 'delete' ? job : undefined
}

/** The folder as the service has it now, if it has. Throws ENOTDIR where a document stands that nobody here is deleting. */
async function standingAt(
  sb: Superblock,
  node: Node,
  own: Job | undefined,
  signal: AbortSignal,
): Promise<FolderListing | undefined> {
  const standing = await lookUp(sb.files, node.path, { deadlineMs: callDeadlineMs, signal })
  if (standing?.kind !== 'file') return standing
  if (own === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document now`)
  return undefined
}

/** The folder goes, and with it the documents whose deletes have not been sent. */
async function deleteWhole(
  sb: Superblock,
  node: Node,
  untried: readonly Job[],
  signal: AbortSignal,
): Promise<void> {
  if (untried.length > 0) await sb.journal.durable()
  for (const { intention } of untried) await preserve(sb, intention.path, signal)
  if (node.folder !== undefined && node.folder.kept.size > 0) throw notEmpty(node)
  await abortable(sb.files.delete(node.path, { deadlineMs: callDeadlineMs }), signal)
  await sb.queue.fulfilled(untried)
}

/** Deleted here, and still shown as it was, or as it was even before: by a listing that lags behind. */
function isLeaving(entry: RemoteFile | RemoteFolder, state: FolderState): boolean {
  const tombstone = state.tombstones.get(entry.name)
  if (tombstone === undefined) return false
  const { fingerprint } = tombstone
  if (entry.kind === 'folder' || fingerprint === undefined)
    return entry.kind === 'folder' && fingerprint === undefined
  return (
    fingerprintOf(entry) === fingerprint ||
    isNewer({ modifiedAt: modifiedAtIn(fingerprint) }, fingerprintOf(entry))
  )
}

function removeFolder(sb: Superblock, above: Node, node: Node): void {
  if (node.folder?.isMadeHere === true) sb.journal.removeFolder(node.path)
  sb.tree.displace(node)
  sb.tree.listings.forget(node)
  const own = pendingDelete(sb, node.path)
  sb.tree.bury(above, node.name, own?.intention.base)
  if (own === undefined) sb.tree.settleTombstone(above, node.name, undefined)
  stayThoughEmpty(sb, above)
  sb.tree.nodes.dropIfUnused(node)
}

/** Sends the deletes (and whatever else waits) under a folder now, and waits for them; `except` may stay. */
async function drainUnder(
  sb: Superblock,
  path: string,
  signal: AbortSignal,
  except: readonly Job[] = [],
): Promise<void> {
  const until = sb.clock.steady() + drainBeforeRemovalMs
  const staying = new Set(except)
  const jobs = sb.queue.jobsUnder(path).filter((job) => !staying.has(job))
  if (jobs.length === 0) return
  const sent = new Set(jobs.map(({ intention }) => intention))
  sb.queue.expedite((intention) => intention.kind === 'delete' && sent.has(intention))
  for (const job of jobs) {
    const outcome = await waitForJob(job, { timeoutMs: Math.max(0, until - sb.clock.steady()), signal })
    if (outcome !== 'done')
      throw new ErrnoError('EBUSY', `${path}: its documents are not yet deleted in the service`)
  }
}

function notEmpty(node: Node): ErrnoError {
  return new ErrnoError('ENOTEMPTY', `${node.path} is not empty`)
}
