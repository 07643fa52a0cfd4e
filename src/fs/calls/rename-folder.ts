// rename(2) of a folder: the service has no such call, so every document under it is moved, journaled in one step. The
// view switches at once; the old folder goes when nothing is left in it.

import { ErrnoError } from '../../errno-error.ts'
import type { Job } from '../../content/commit/job.ts'
import { saveScratchRow } from '../unsent/content.ts'
import { pendingDelete, rmdir } from './rmdir.ts'
import type { Listing } from '../tree/listings.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import type { Move } from './move.ts'
import { commitAtClose, isBeingWritten, submit, waitForService } from '../unsent/submit.ts'
import type { Superblock } from '../superblock.ts'
import { leavePath } from './leave-path.ts'

interface Plan {
  readonly documents: Node[]
  readonly folders: Node[]
}

export async function renameFolder(sb: Superblock, move: Move, caller: Caller): Promise<void> {
  const { node, to, name, target } = move
  if (target !== undefined) await rmdir(sb, to.ino, name, caller)
  const listings = await list(sb, node)
  // What is dirty is secured before its journal row promises it.
  for (const { content } of planned(sb, node, listings).documents)
    if (content !== undefined) await sb.spool.secure(content)
  if (node.isUnlinked) throw new ErrnoError('ENOENT', `${node.path} is gone`)
  // Nodes may have come and gone meanwhile: what moves is what is there now, at once.
  const plan = planned(sb, node, listings)
  const jobs = sb.journal.transaction(() => apply(sb, move, plan))
  for (const job of jobs) await waitForService(sb, job, caller.signal)
}

/** Every folder under this one, listed afresh: a document that appeared meanwhile moves along. */
async function list(sb: Superblock, top: Node): Promise<Map<Node, Listing>> {
  const listings = new Map<Node, Listing>()
  const folders = [top]
  let documents = 0
  for (const folder of folders) {
    const listing = await listingNow(sb, folder)
    listings.set(folder, listing)
    for (const name of sb.tree.names(folder, listing)) {
      const child = sb.tree.child(folder, name, listing)
      if (child?.folder === undefined) documents++
      else folders.push(child)
    }
    checkLimit(sb, top, documents)
  }
  return listings
}

function listingNow(sb: Superblock, folder: Node): MaybePromise<Listing> {
  const known = sb.tree.listings.known(folder)
  return folder.folder?.isOnlyHere === true && known !== undefined ? known : sb.tree.loadFresh(folder)
}

/** Everything under the folder, as far as it is listed. */
function planned(
  sb: Superblock,
  folder: Node,
  listings: ReadonlyMap<Node, Listing>,
  plan: Plan = { documents: [], folders: [] },
): Plan {
  plan.folders.push(folder)
  const listing = sb.tree.listings.known(folder) ?? listings.get(folder)
  if (listing === undefined) return plan
  for (const name of sb.tree.names(folder, listing)) {
    const child = sb.tree.child(folder, name, listing)
    if (child === undefined) continue
    if (child.folder === undefined) plan.documents.push(child)
    else planned(sb, child, listings, plan)
  }
  return plan
}

/** mv then copies and deletes in the open, where it can be watched and stopped. */
function checkLimit(sb: Superblock, folder: Node, documents: number): void {
  const { renameLimit } = sb.settings
  if (documents <= renameLimit) return
  throw new ErrnoError('EXDEV', `${folder.path}: more than ${renameLimit} documents (--rename-limit)`)
}

function apply(sb: Superblock, { node, from, to, name }: Move, plan: Plan): Job[] {
  const { path: oldPath, name: oldName } = node
  const wasInService = node.folder?.isOnlyHere !== true
  for (const folder of plan.folders) {
    if (folder.folder?.isMadeHere === true) sb.journal.removeFolder(folder.path)
  }
  const accepted = new Map<Node, string | undefined>()
  for (const document of plan.documents) {
    const spool = document.job?.intention.spool
    if (document.isScratch) sb.journal.removeScratch(document.path)
    else leavePath(sb, document)
    if (document.job === undefined) accepted.set(document, spool)
    sb.attributes.forget(document.path)
  }
  sb.tree.detach(node)
  sb.tree.attach(node, to, name)
  for (const folder of plan.folders) arrive(sb, folder)
  const jobs = plan.documents
    .map((document) => moved(sb, document, accepted.get(document)))
    .filter((job) => job !== undefined)
  if (!wasInService) {
    const deleted = pendingDelete(sb, oldPath)
    if (deleted !== undefined) sb.tree.bury(from, oldName, deleted.intention.base)
    return jobs
  }
  sb.tree.bury(from, oldName, undefined)
  const prune = sb.queue.submit({ kind: 'prune', path: oldPath })
  return prune === undefined ? jobs : [...jobs, prune]
}

/** The folder is at its new place, where only what is kept exists so far. */
function arrive(sb: Superblock, folder: Node): void {
  if (folder.folder === undefined) return
  const listing = sb.tree.listings.known(folder)
  for (const undo of [folder.remembered(), folder.folder.remembered()]) sb.journal.onRollback(undo)
  sb.journal.onRollback(() => {
    if (listing === undefined) sb.tree.listings.forget(folder)
    else sb.tree.listings.set(folder, listing)
  })
  folder.folder.tombstones.clear()
  folder.folder.isMadeHere = true
  folder.settledAt = undefined
  sb.journal.saveFolder(folder.path)
  sb.tree.keep(folder)
  sb.tree.listings.set(folder, { names: new Map(), requestedAt: sb.clock.steady() })
}

function moved(sb: Superblock, document: Node, accepted: string | undefined): Job | undefined {
  sb.journal.onRollback(document.remembered())
  sb.tree.keep(document)
  // Back at its older place: what the service has there is its own.
  const { movesFrom } = document.unsent
  document.unsent.mayReplace(movesFrom?.path === document.path ? movesFrom.fingerprint : undefined)
  document.settledAt = undefined
  if (document.isScratch) {
    saveScratchRow(sb, document)
    return undefined
  }
  if (isBeingWritten(document)) return commitAtClose(sb, document, accepted)
  return submit(sb, document, document.content, document.content?.epoch ?? -1)
}
