// rmdir(2). The service's delete is recursive (interface, "DELETE /projects/{project_name}/files"), so the folder is listed again
// right before it: a document that another client stored there meanwhile must not be deleted with it. Documents that were deleted
// in the folder here, and whose own deletes have not been sent, are removed by the same call.

import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { waitForJob, type Job } from '../../content/commit/job.ts'
import type { LateFiles } from '../../content/commit/late-files.ts'
import { deleteLooking } from '../../content/remote-delete.ts'
import { lookUp } from '../../content/remote-lookup.ts'
import { callDeadlineMs, isAnyLeft } from './left-in-folder.ts'
import { checkIsStill, childOf, isStill, withListing } from './lookup.ts'
import { keepFormer, type KeepFormerParts } from '../unsent/keep-former.ts'
import { checkEmpty, notEmpty, removeFolder, rmdirOffline, type RmdirHereParts } from './rmdir-here.ts'
import type { FolderState, Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import type { Caller } from '../operations.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Chance } from '../../world/chance.ts'
import { abortAfter, type Clock } from '../../world/clock.ts'

/** Longest wait of rmdir for pending changes below the folder to be sent. Only a close may block a program longer. */
const drainBeforeRemovalMs = 14_000
/** Longest wait of rmdir for downloads for undo. */
const downloadsMs = 10_000

export interface RmdirParts extends RmdirHereParts, KeepFormerParts {
  /** Downloads the version at a path that is about to be deleted, if an open handle or a backup still shows it. */
  readonly preserve: (path: string, signal: AbortSignal) => Promise<void>
  readonly files: Files
  readonly changing: LateFiles
  readonly reach: Reach
  readonly chance: Chance
  readonly clock: Clock
}

interface DrainParts {
  readonly queue: CommitQueue
  readonly clock: Clock
}

/**
 * Throws ENOTEMPTY if a fresh listing shows a document that was not deleted here, and EBUSY if sending the pending changes below
 * the folder takes too long.
 */
export async function rmdir(parts: RmdirParts, parent: number, name: string, caller: Caller): Promise<void> {
  const above = parts.tree.nodes.getFolder(parent)
  for (;;) {
    const node = childOf(
      parts.tree,
      above,
      name,
      await withListing(parts.tree, above, caller, (told) => told),
    )
    try {
      return await removed(parts, above, node, caller)
    } catch (error) {
      // Another folder may have the name by now: then the call is repeated for that one.
      if (isStill(node, above, name) || caller.signal.aborted) throw error
    }
  }
}

async function removed(parts: RmdirParts, above: Node, node: Node, caller: Caller): Promise<void> {
  const { name, path } = node
  const state = folderStateOf(node)
  if (state.isOnlyHere) {
    checkKeepsNothing(node, state)
    goneWhole(parts, above, node)
    return
  }
  if (mayNotAsk(parts)) return rmdirOffline(parts, above, node, caller)
  const look = await lookInto(parts, above, node, caller.signal)
  const isThere = await look.isToGo(look.standing)
  if (isThere) await deleteWhole(parts, node, look, caller.signal)
  // A listing that was answered meanwhile has removed the node from the tree already.
  if (isThere && node.isUnlinked && parts.tree.keptChild(above, name) === undefined)
    return parts.journal.transaction(() => hideFormer(parts, path))
  checkIsStill(node, above, name)
  // A document was created in the folder meanwhile: sending it will create the folder in the service again.
  if (state.kept.size > 0) {
    parts.tree.listings.forget(node)
    throw notEmpty(node)
  }
  // The folder is deleted. A document's own delete that is still under way finds nothing; later changes at its path wait for it.
  goneWhole(parts, above, node)
}

/**
 * Throws what rmdir(2) throws for a folder that is not empty, and removes nothing. For a rename over an empty folder: the renamed
 * folder takes over the folder in the service, and the deletes in it that were not sent.
 */
export async function checkIsEmpty(
  parts: RmdirParts,
  above: Node,
  node: Node,
  caller: Caller,
): Promise<void> {
  const state = folderStateOf(node)
  if (state.isOnlyHere) return checkKeepsNothing(node, state)
  if (mayNotAsk(parts)) {
    await withListing(parts.tree, node, caller, (listing) => checkEmpty(parts.tree, node, listing))
    return
  }
  const look = await lookInto(parts, above, node, caller.signal)
  await look.isToGo(look.standing)
  checkKeepsNothing(node, state)
}

/** True while nothing is sent, so that the folder's DELETE has to wait in the queue with all other changes. */
function mayNotAsk({ reach, queue }: Pick<RmdirParts, 'reach' | 'queue'>): boolean {
  return reach.isAway || queue.isPausedBy('asked')
}

/** State of the folder before its delete. */
interface Look {
  /** Unsent deletes of documents in the folder, which its own delete makes superfluous. */
  readonly untried: readonly Job[]
  /** Jobs that may be pending at or below the path: `untried`, and the delete of a document that had the folder's name before. */
  readonly expected: ReadonlySet<Job>
  /** The service's answer for the path. */
  readonly standing: RemoteFile | FolderListing | undefined
  /**
   * Resolves with true if the service has a folder to delete. Throws ENOTEMPTY if it holds other documents. Called before every
   * attempt, so that documents which another client stores there in between stay.
   */
  readonly isToGo: (standing: RemoteFile | FolderListing | undefined) => Promise<boolean>
}

/** Waits until the pending changes below the folder are sent, then lists it again. */
async function lookInto(parts: RmdirParts, above: Node, node: Node, signal: AbortSignal): Promise<Look> {
  const state = folderStateOf(node)
  const { name } = node
  // A document that had the folder's name before has a delete of its own.
  const own = pendingDelete(parts.queue, node.path)
  const untried = parts.queue.untriedDeletes(node.path).filter((job) => job !== own)
  const expected = new Set(own === undefined ? untried : [...untried, own])
  await drainUnder(parts, node.path, signal, expected)
  const beganAt = parts.clock.steady()
  const hiddenBefore = new Map(parts.tree.synced.in(node))
  const isToGo = async (standing: RemoteFile | FolderListing | undefined): Promise<boolean> => {
    checkIsStill(node, above, name)
    const folder = folderIn(standing, node, own)
    // A listing may have ended rows while `standing` was under way, which still shows those documents.
    const hidden = new Map([...hiddenBefore, ...parts.tree.synced.in(node)])
    const isLeft = await isAnyLeft(parts.files, node.path, { hidden, untried }, folder, signal)
    if (isLeft || state.kept.size > 0 || isShownSince(parts.tree, node, beganAt)) {
      parts.tree.listings.forget(node)
      throw notEmpty(node)
    }
    return folder !== undefined
  }
  const standing = await lookUp(parts.files, node.path, { deadlineMs: callDeadlineMs, signal })
  return { untried, expected, standing, isToGo }
}

/** Returns the folder's state. Throws ENOTDIR for a document, ENOTEMPTY for a folder that keeps unsent or local documents. */
function folderStateOf(node: Node): FolderState {
  const state = node.folder
  if (state === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document`)
  if ([...state.kept].some((kept) => state.children.get(kept)?.folder === undefined)) throw notEmpty(node)
  return state
}

function checkKeepsNothing(node: Node, { kept }: FolderState): void {
  if (kept.size > 0) throw notEmpty(node)
}

/** Returns the pending delete of a document at this path. */
function pendingDelete(queue: CommitQueue, path: string): Job | undefined {
  const job = queue.find(path)
  return job?.intention.kind === 'delete' ? job : undefined
}

/** Returns the service's folder, if there is one. Throws ENOTDIR if a document is at the path that is not being deleted (`own`). */
function folderIn(
  standing: RemoteFile | FolderListing | undefined,
  node: Node,
  own: Job | undefined,
): FolderListing | undefined {
  if (standing?.kind !== 'file') return standing
  if (own === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document now`)
  return undefined
}

/** Deletes the folder in the service, and with it the documents in `untried`. Throws ENOTEMPTY if it has content by then. */
async function deleteWhole(
  parts: RmdirParts,
  node: Node,
  { untried, expected, isToGo }: Look,
  signal: AbortSignal,
): Promise<void> {
  const { changing, clock, chance, queue } = parts
  const { path } = node
  // Saves below the path are not sent before the service has answered the delete, even if the caller gives up waiting; nor are the
  // deletes, however long it takes to keep what they delete.
  let answered: Promise<void> | undefined
  const onAttempt = (attempt: Promise<void>): void => void (answered = attempt)
  if (untried.length > 0) await parts.journal.durable()
  for (const { intention } of untried) await parts.preserve(intention.path, signal)
  const open = queue.keepOut(path)
  try {
    await changing.arrivalsOver(path, signal)
    await keepAll(parts, untried, signal)
    // A document was created in the folder meanwhile, or moved out of it, and that is not sent yet.
    const isLeft = queue.jobsUnder(path).some((job) => !expected.has(job))
    if (isLeft || (node.folder !== undefined && node.folder.kept.size > 0)) throw notEmpty(node)
    await deleteLooking({
      files: changing, path, clock, chance, deadlineMs: callDeadlineMs, signal, isToGo, onAttempt,
    }) // prettier-ignore
    await queue.fulfilled(untried)
  } catch (error) {
    // The answer is lost, and a listing tells that the folder is gone. Deletes in it find nothing.
    if (answered === undefined || !node.isUnlinked) throw error
  } finally {
    void Promise.resolve(answered)
      .catch(() => {})
      .finally(open)
  }
}

/** Keeps for undo what a removed folder takes along, as far as it is downloaded within ten seconds. */
async function keepAll(parts: RmdirParts, untried: readonly Job[], signal: AbortSignal): Promise<void> {
  const going = untried.flatMap(({ intention: { path, base } }) =>
    base === undefined ? [] : [{ path, how: 'deleted' as const, fingerprint: base }],
  )
  if (going.length === 0) return
  await keepFormer(parts, going, AbortSignal.any([signal, abortAfter(parts.clock, downloadsMs)]))
  signal.throwIfAborted()
}

/** True if a listing requested after `at` shows a document: the lookup that began at `at` may have missed it. */
function isShownSince(tree: Tree, node: Node, at: number): boolean {
  const listing = tree.listings.known(node)
  return listing !== undefined && listing.requestedAt > at && !tree.isEmpty(node)
}

/** Removes the folder from the tree: neither the service nor this machine has it any more. */
function goneWhole(parts: RmdirParts, above: Node, node: Node): void {
  parts.saved.gone(node.path, parts.clock.wall())
  removeFolder(parts, above, node, () => hideFormer(parts, node.path))
}

/** Hides the document that had the name of a removed folder before it: listings may still show that. */
export function hideFormer({ tree, queue }: Pick<RmdirParts, 'tree' | 'queue'>, path: string): void {
  tree.synced.touch(path, pendingDelete(queue, path)?.intention.base)
  // A pending change that still has to delete that document says when it has.
  if (!queue.isToBeEmptied(path) && !queue.isOfFormerFolder(path)) tree.synced.agree(path)
}

/** Sends the pending changes below a folder now, and waits for them; jobs in `except` may stay pending. Throws EBUSY after 14 s. */
async function drainUnder(
  parts: DrainParts,
  path: string,
  signal: AbortSignal,
  except: ReadonlySet<Job>,
): Promise<void> {
  const until = parts.clock.monotonic() + drainBeforeRemovalMs
  const jobs = parts.queue.jobsUnder(path).filter((job) => !except.has(job))
  if (jobs.length === 0) return
  const sent = new Set(jobs.map(({ intention }) => intention))
  parts.queue.runNow((intention) => intention.kind === 'delete' && sent.has(intention))
  for (const job of jobs) {
    // The document was moved away while a program writes it: do not wait for its close.
    parts.queue.release(job)
    const outcome = await waitForJob(parts.clock, job, {
      timeoutMs: Math.max(0, until - parts.clock.monotonic()),
      signal,
    })
    if (outcome !== 'done')
      throw new ErrnoError('EBUSY', `${path}: its documents are not yet deleted in the service`)
  }
}
