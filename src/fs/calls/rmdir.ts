// Removing a folder without ever removing more than was asked. Documents deleted in it a moment ago go with it, in
// one call: the service's delete is recursive (interface, "DELETE /projects/{project_name}/files").

import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { waitForJob, type Job } from '../../content/commit/job.ts'
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
import type { Clock } from '../../world/clock.ts'

/** How long rmdir waits for what is on its way under the folder: nothing but a waiting close blocks longer. */
const drainBeforeRemovalMs = 14_000

export interface RmdirParts extends RmdirHereParts, KeepFormerParts {
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
      // Another has the name now: that is removed, or found not to be empty.
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
  // A listing was faster to tell.
  if (isThere && node.isUnlinked && parts.tree.keptChild(above, name) === undefined)
    return parts.journal.transaction(() => hideFormer(parts, above, name, path))
  checkIsStill(node, above, name)
  // Made while that was under way: it makes its folder anew.
  if (state.kept.size > 0) {
    parts.tree.listings.forget(node)
    throw notEmpty(node)
  }
  // It is gone. A delete in it that is under way by itself finds nothing, and whoever comes to its path waits for it.
  goneWhole(parts, above, node)
}

/**
 * Throws what rmdir(2) throws where the folder has something in it, and leaves it where it is: what takes its place takes over its
 * folder in the service, and the deletes that were not sent there.
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

/** The folder's DELETE waits for its turn, as everything else does. */
function mayNotAsk({ reach, queue }: Pick<RmdirParts, 'reach' | 'queue'>): boolean {
  return reach.isAway || queue.isPausedBy('asked')
}

/** Knowledge that is needed before the folder goes. */
interface Look {
  /** Deletes of documents in it that go with it. */
  readonly untried: readonly Job[]
  /** Those, and the delete of a document that had the folder's name before: all that is still to be sent there. */
  readonly expected: ReadonlySet<Job>
  readonly standing: RemoteFile | FolderListing | undefined
  /**
   * True if the service has a folder to delete. Throws ENOTEMPTY. Asked before every attempt: what another client
   * stores there in between stays.
   */
  readonly isToGo: (standing: RemoteFile | FolderListing | undefined) => Promise<boolean>
}

/** Lists the folder afresh, when what is on its way under it has arrived. */
async function lookInto(parts: RmdirParts, above: Node, node: Node, signal: AbortSignal): Promise<Look> {
  const state = folderStateOf(node)
  const { name } = node
  // A document that had the folder's name before has a delete of its own.
  const own = pendingDelete(parts.queue, node.path)
  const untried = parts.queue.untriedDeletes(node.path).filter((job) => job !== own)
  const expected = new Set(own === undefined ? untried : [...untried, own])
  await drainUnder(parts, node.path, signal, expected)
  const beganAt = parts.clock.steady()
  const hiddenBefore = new Map(state.tombstones)
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
  return { untried, expected, standing, isToGo }
}

/** Throws ENOTDIR for a document, ENOTEMPTY for a folder with documents that are true here. */
function folderStateOf(node: Node): FolderState {
  const state = node.folder
  if (state === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document`)
  if ([...state.kept].some((kept) => state.children.get(kept)?.folder === undefined)) throw notEmpty(node)
  return state
}

function checkKeepsNothing(node: Node, { kept }: FolderState): void {
  if (kept.size > 0) throw notEmpty(node)
}

/** The delete of a document at this path that the service has not heard of yet. */
function pendingDelete(queue: CommitQueue, path: string): Job | undefined {
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
  { untried, expected, isToGo }: Look,
  signal: AbortSignal,
): Promise<void> {
  if (untried.length > 0) await parts.journal.durable()
  for (const { intention } of untried) await parts.preserve(intention.path, signal)
  await keepFormer(
    parts,
    untried.flatMap(({ intention: { path, base } }) =>
      base === undefined ? [] : [{ path, how: 'deleted', fingerprint: base }],
    ),
  )
  const { files, clock, chance, queue } = parts
  const { path } = node
  // Made in it meanwhile, or moved out of it, and not sent yet.
  const isLeft = queue.jobsUnder(path).some((job) => !expected.has(job))
  if (isLeft || (node.folder !== undefined && node.folder.kept.size > 0)) throw notEmpty(node)
  // A save in it is sent from now on once the service has answered, also where nobody waits for that any more.
  let answered: Promise<void> = Promise.resolve()
  const onAttempt = (attempt: Promise<void>): void => void (answered = attempt)
  const open = queue.keepOut(path)
  try {
    await deleteLooking({
      files, path, clock, chance, deadlineMs: callDeadlineMs, signal, isToGo, onAttempt,
    }) // prettier-ignore
    await queue.fulfilled(untried)
  } finally {
    void answered.catch(() => {}).finally(open)
  }
}

/** True if a listing that was asked for since `at` shows something: a look that is answered later need not show that. */
function isShownSince(tree: Tree, node: Node, at: number): boolean {
  const listing = tree.listings.known(node)
  return listing !== undefined && listing.requestedAt > at && !tree.isEmpty(node)
}

/** Neither the service nor this machine has it any more. */
function goneWhole(parts: RmdirHereParts, above: Node, node: Node): void {
  parts.saved.gone(node.path)
  removeFolder(parts, above, node, () => hideFormer(parts, above, node.name, node.path))
}

/** A folder that the service does not have has left its name: what stood there before, and may still be listed, does not show again. */
export function hideFormer(
  { tree, queue }: Pick<RmdirParts, 'tree' | 'queue'>,
  above: Node,
  name: string,
  path: string,
): void {
  tree.tombstones.bury(above, name, pendingDelete(queue, path)?.intention.base)
  // The change that is still to take it away settles it.
  if (!queue.isToBeEmptied(path) && !queue.isOfFormerFolder(path))
    tree.tombstones.settle(above, name, undefined)
}

/** Sends the deletes (and whatever else waits) under a folder now, and waits for them; `except` may stay. */
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
