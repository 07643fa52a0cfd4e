// Removing a folder without ever removing more than was asked. What was deleted in it a moment ago goes with it, in one
// call: the service's delete is recursive (interface, "DELETE /projects/{project_name}/files").

import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { waitForJob, type Job } from '../../content/commit/job.ts'
import { deleteLooking, type RemoteDelete } from '../../content/remote-delete.ts'
import { lookUp } from '../../content/remote-lookup.ts'
import { callDeadlineMs, isAnyLeft } from './left-in-folder.ts'
import { checkIsStill, childOf, withListing } from './lookup.ts'
import { removeFolder, rmdirHere, type RmdirHereParts } from './rmdir-here.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import type { Caller } from '../operations.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Chance } from '../../world/chance.ts'
import type { Clock } from '../../world/clock.ts'

/** How long rmdir waits for what is on its way under the folder: nothing but a waiting close blocks longer. */
const drainBeforeRemovalMs = 14_000

export interface RmdirParts extends RmdirHereParts {
  /** Brings here what somebody still shows of the version at a path that is about to be destroyed. */
  readonly preserve: (path: string, signal: AbortSignal) => Promise<void>
  readonly files: Files
  readonly reach: Reach
  readonly chance: Chance
  readonly clock: Clock
}

interface DrainParts {
  readonly queue: CommitQueue
  readonly clock: Clock
}

/**
 * rmdir(2). Lists afresh before it deletes: whatever stands there and was not deleted here makes it ENOTEMPTY. Throws EBUSY
 * where what is on its way under the folder takes too long.
 */
export async function rmdir(parts: RmdirParts, parent: number, name: string, caller: Caller): Promise<void> {
  const { signal } = caller
  const above = parts.tree.nodes.getFolder(parent)
  const node = childOf(parts.tree, above, name, await withListing(parts.tree, above, caller, (told) => told))
  const state = node.folder
  if (state === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document`)
  if (state.kept.size > 0 && [...state.kept].some((kept) => state.children.get(kept)?.folder === undefined))
    throw notEmpty(node)
  if (state.isOnlyHere) {
    if (state.kept.size > 0) throw notEmpty(node)
    goneWhole(parts, above, node)
    return
  }
  if (parts.reach.isAway) return rmdirHere(parts, above, node, caller)
  // A document that had the folder's name before has a delete of its own.
  const own = pendingDelete(parts.queue, node.path)
  const untried = parts.queue.untriedDeletes(node.path).filter((job) => job !== own)
  await drainUnder(parts, node.path, signal, own === undefined ? untried : [...untried, own])
  const beganAt = parts.clock.steady()
  const hiddenBefore = new Map(state.tombstones)
  /** Whether the service has a folder to delete. Asked before every attempt: what another client stores there in between stays. */
  const isToGo = async (standing: RemoteFile | FolderListing | undefined): Promise<boolean> => {
    checkIsStill(node, above, name)
    const folder = folderIn(standing, node, own)
    // A look that is answered late shows what was deleted when it was asked for, though a listing may have had the last word since.
    const hidden = new Map([...hiddenBefore, ...state.tombstones])
    const isLeft = await isAnyLeft(parts.files, node.path, { hidden, untried }, folder, signal)
    if (isLeft || state.kept.size > 0 || isShownSince(parts.tree, node, beganAt)) {
      parts.tree.listings.forget(node)
      throw notEmpty(node)
    }
    return folder !== undefined
  }
  const standing = await lookUp(parts.files, node.path, { deadlineMs: callDeadlineMs, signal })
  if (await isToGo(standing)) await deleteWhole(parts, node, { untried, isToGo }, signal)
  checkIsStill(node, above, name)
  // Made while that was under way: it makes its folder anew.
  if (state.kept.size > 0) {
    parts.tree.listings.forget(node)
    throw notEmpty(node)
  }
  // It is gone. A delete in it that is under way by itself finds nothing, and whoever comes to its path waits for it.
  goneWhole(parts, above, node)
}

/** The delete of a document at this path that the service has not heard of yet. */
export function pendingDelete(queue: CommitQueue, path: string): Job | undefined {
  const job = queue.find(path)
  return job?.intention.kind === 'delete' ? job : undefined
}

/** The folder as the service has it now, if it has. Throws ENOTDIR where a document stands that nobody here is deleting. */
function folderIn(
  standing: RemoteFile | FolderListing | undefined,
  node: Node,
  own: Job | undefined,
): FolderListing | undefined {
  if (standing?.kind !== 'file') return standing
  if (own === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document now`)
  return undefined
}

/** The folder goes, and with it the documents whose deletes have not been sent. */
async function deleteWhole(
  parts: RmdirParts,
  node: Node,
  { untried, isToGo }: { untried: readonly Job[]; isToGo: RemoteDelete['isToGo'] },
  signal: AbortSignal,
): Promise<void> {
  if (untried.length > 0) await parts.journal.durable()
  for (const { intention } of untried) await parts.preserve(intention.path, signal)
  if (node.folder !== undefined && node.folder.kept.size > 0) throw notEmpty(node)
  const { files, clock, chance } = parts
  await deleteLooking({ files, path: node.path, clock, chance, deadlineMs: callDeadlineMs, signal, isToGo })
  await parts.queue.fulfilled(untried)
}

/** Whether a listing that was asked for since `at` shows something: a look that is answered later than it need not have that. */
function isShownSince(tree: Tree, node: Node, at: number): boolean {
  const listing = tree.listings.known(node)
  return listing !== undefined && listing.requestedAt > at && !tree.isEmpty(node)
}

/** Neither the service nor this machine has it any more. */
function goneWhole(parts: RmdirHereParts, above: Node, node: Node): void {
  parts.saved.gone(node.path)
  removeFolder(parts, above, node, () => {
    const own = pendingDelete(parts.queue, node.path)
    parts.tree.tombstones.bury(above, node.name, own?.intention.base)
    if (own === undefined) parts.tree.tombstones.settle(above, node.name, undefined)
  })
}

/** Sends the deletes (and whatever else waits) under a folder now, and waits for them; `except` may stay. */
async function drainUnder(
  parts: DrainParts,
  path: string,
  signal: AbortSignal,
  except: readonly Job[] = [],
): Promise<void> {
  const until = parts.clock.monotonic() + drainBeforeRemovalMs
  const staying = new Set(except)
  const jobs = parts.queue.jobsUnder(path).filter((job) => !staying.has(job))
  if (jobs.length === 0) return
  const sent = new Set(jobs.map(({ intention }) => intention))
  parts.queue.expedite((intention) => intention.kind === 'delete' && sent.has(intention))
  for (const job of jobs) {
    // It was moved away while it is written: its close may be long in coming.
    parts.queue.release(job)
    const outcome = await waitForJob(parts.clock, job, {
      timeoutMs: Math.max(0, until - parts.clock.monotonic()),
      signal,
    })
    if (outcome !== 'done')
      throw new ErrnoError('EBUSY', `${path}: its documents are not yet deleted in the service`)
  }
}

function notEmpty(node: Node): ErrnoError {
  return new ErrnoError('ENOTEMPTY', `${node.path} is not empty`)
}
