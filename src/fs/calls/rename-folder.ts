// rename(2) of a folder: the service has no such call, so every document under it is moved, journaled in one step. The
// view switches at once; the old folder goes when nothing is left in it.

import { ErrnoError } from '../../errno-error.ts'
import type { Job } from '../../content/commit/job.ts'
import type { ScratchRow } from '../../content/spool/journal-rows.ts'
import { arriveScratchRow, leaveScratchRow, type LocalRowParts } from '../unsent/local-rows.ts'
import { stayThoughEmpty } from './folders.ts'
import { pendingDelete, rmdir, type RmdirParts } from './rmdir.ts'
import type { Listing } from '../tree/listings.ts'
import type { Node } from '../tree/node.ts'
import { ListedNames } from '../tree/listed-names.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import { isWithin, type Move } from './move.ts'
import type { SubmitParts } from '../unsent/submit.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Tree } from '../tree/tree.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { CloseWait } from '../unsent/close-wait.ts'
import { leavePath, type LeaveParts, type Left } from './leave-path.ts'

export interface RenameFolderParts extends RmdirParts, LeaveParts, SubmitParts, LocalRowParts {
  readonly tree: Tree
  readonly spool: Spool
  readonly attributes: AttributeStore
  readonly closeWait: CloseWait
  readonly settings: { readonly renameLimit: number }
}

interface Plan {
  readonly documents: Node[]
  readonly folders: Node[]
}

/** False where another call has changed what has these names, before anything moved: they are to be looked up anew. */
export async function renameFolder(parts: RenameFolderParts, move: Move, caller: Caller): Promise<boolean> {
  const { node, from, to, name, target } = move
  const { name: oldName } = node
  // First: what cannot be moved takes the place of nothing.
  const listings = await list(parts.tree, node, parts.settings.renameLimit)
  if (target !== undefined) await rmdir(parts, to.ino, name, caller)
  // What is dirty is secured before its journal row promises it.
  for (const { content, isScratch } of planned(parts.tree, node, listings).documents)
    if (content !== undefined) await (isScratch ? content.sync() : parts.spool.secure(content))
  const isWhereItWas = !node.isUnlinked && node.parent === from && node.name === oldName
  const isFree = parts.tree.keptChild(to, name) === undefined && !to.isUnlinked && !isWithin(to, node)
  if (!isWhereItWas || !isFree) return false
  // Nodes may have come and gone meanwhile: what moves is what is there now, at once.
  const plan = planned(parts.tree, node, listings)
  const jobs = parts.journal.transaction(() => {
    const moved = apply(parts, move, plan)
    stayThoughEmpty(parts, from)
    return moved
  })
  if (jobs.length === 0) await parts.journal.durable()
  for (const job of jobs) await parts.closeWait.wait(job, caller.signal)
  return true
}

/** Every folder under this one, listed afresh: a document that appeared meanwhile moves along. */
async function list(tree: Tree, top: Node, mostDocuments: number): Promise<Map<Node, Listing>> {
  const listings = new Map<Node, Listing>()
  const folders = [top]
  let documents = 0
  for (const folder of folders) {
    const listing = await listingNow(tree, folder)
    listings.set(folder, listing)
    for (const name of tree.names(folder, listing)) {
      const child = tree.child(folder, name, listing)
      if (child?.folder === undefined) documents++
      else folders.push(child)
    }
    checkLimit(top, documents, mostDocuments)
  }
  return listings
}

function listingNow(tree: Tree, folder: Node): MaybePromise<Listing> {
  const known = tree.listings.known(folder)
  return folder.folder?.isOnlyHere === true && known !== undefined ? known : tree.loadFresh(folder)
}

/** Everything under the folder, as far as it is listed. */
function planned(
  tree: Tree,
  folder: Node,
  listings: ReadonlyMap<Node, Listing>,
  plan: Plan = { documents: [], folders: [] },
): Plan {
  plan.folders.push(folder)
  const listing = tree.listings.known(folder) ?? listings.get(folder)
  if (listing === undefined) return plan
  for (const name of tree.names(folder, listing)) {
    const child = tree.child(folder, name, listing)
    if (child === undefined) continue
    if (child.folder === undefined) plan.documents.push(child)
    else planned(tree, child, listings, plan)
  }
  return plan
}

/** mv then copies and deletes in the open, where it can be watched and stopped. */
function checkLimit(folder: Node, documents: number, renameLimit: number): void {
  if (documents <= renameLimit) return
  throw new ErrnoError('EXDEV', `${folder.path}: more than ${renameLimit} documents (--rename-limit)`)
}

function apply(parts: RenameFolderParts, { node, from, to, name }: Move, plan: Plan): Job[] {
  const { path: oldPath, name: oldName } = node
  const wasInService = node.folder?.isOnlyHere !== true
  for (const folder of plan.folders) {
    if (folder.folder?.isMadeHere === true) parts.journal.folders.remove(folder.path)
  }
  const left = new Map<Node, Left>()
  const here = new Map<Node, ScratchRow | undefined>()
  for (const document of plan.documents) {
    if (document.isScratch) here.set(document, leaveScratchRow(parts, document))
    else left.set(document, leave(parts, document))
    parts.attributes.forget(document.path)
  }
  for (const folder of plan.folders) {
    if (folder !== node && folder.parent !== undefined && folder.folder?.isOnlyHere !== true)
      parts.tree.tombstones.bury(folder.parent, folder.name, undefined)
  }
  for (const folder of plan.folders) parts.tree.hidden.left(folder)
  parts.tree.places.detach(node)
  parts.tree.places.attach(node, to, name)
  for (const folder of plan.folders) arrive(parts, folder)
  const jobs = plan.documents
    .map((document) => moved(parts, document, left.get(document), here.get(document)))
    .filter((job) => job !== undefined)
  if (!wasInService) {
    const deleted = pendingDelete(parts.queue, oldPath)
    if (deleted !== undefined) parts.tree.tombstones.bury(from, oldName, deleted.intention.base)
    return jobs
  }
  parts.tree.tombstones.bury(from, oldName, undefined)
  const prune = parts.queue.submit({ kind: 'prune', path: oldPath })
  return prune === undefined ? jobs : [...jobs, prune]
}

/** What stood there, and is on its way, shows in no folder that is made at the old place. */
function leave(parts: RenameFolderParts, document: Node): Left {
  const { parent, name } = document
  const left = leavePath(parts, document)
  const { behind } = left
  if (behind !== undefined && parent !== undefined)
    parts.tree.tombstones.bury(parent, name, behind.fingerprint)
  return left
}

/** The folder is at its new place, where only what is kept exists so far. */
function arrive(parts: RenameFolderParts, folder: Node): void {
  if (folder.folder === undefined) return
  const listing = parts.tree.listings.known(folder)
  for (const undo of [folder.remembered(), folder.folder.remembered()]) parts.journal.onRollback(undo)
  parts.journal.onRollback(() => {
    if (listing === undefined) parts.tree.listings.forget(folder)
    else parts.tree.listings.set(folder, listing)
  })
  folder.folder.arrive()
  parts.tree.hidden.takeOver(folder)
  folder.unsettle()
  parts.journal.folders.save(folder.path)
  parts.tree.places.keep(folder)
  parts.tree.listings.set(folder, { names: new ListedNames(), requestedAt: parts.clock.steady() })
}

function moved(
  parts: RenameFolderParts,
  document: Node,
  left: Left | undefined,
  here: ScratchRow | undefined,
): Job | undefined {
  parts.journal.onRollback(document)
  parts.tree.places.keep(document)
  // Back at its older place: what the service has there is its own.
  const { movesFrom } = document.unsent
  document.unsent.mayReplace(movesFrom?.path === document.path ? movesFrom.fingerprint : undefined)
  document.unsettle()
  if (document.isScratch) {
    arriveScratchRow(parts, document, here)
    return undefined
  }
  if (left?.isBeingWritten === true) return parts.saves.commitAtClose(document, left.accepted, left.set)
  return parts.saves.submit(document, document.content, document.content?.epoch ?? -1)
}
