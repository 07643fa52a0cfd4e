// rename(2) of a folder: the service has no such call, so every document under it is moved, journaled in one step. The
// view switches at once; the old folder goes when nothing is left in it.

import { ErrnoError } from '../../errno-error.ts'
import type { Job } from '../../content/commit/job.ts'
import type { ScratchRow } from '../../content/spool/journal-rows.ts'
import { forgetStored } from '../unsent/content.ts'
import { isLocalName } from '../tree/scratch.ts'
import { isInTrash } from '../tree/trash.ts'
import { bringForTrash, leaveService, type BringForTrashParts } from './to-trash.ts'
import { arriveScratchRow, leaveScratchRow, saveLocalRow, type LocalRowParts } from '../unsent/local-rows.ts'
import { stayThoughEmpty } from './folders.ts'
import { isStill } from './lookup.ts'
import { checkIsEmpty, hideFormer, type RmdirParts } from './rmdir.ts'
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

export interface RenameFolderParts
  extends RmdirParts, LeaveParts, SubmitParts, LocalRowParts, BringForTrashParts {
  readonly tree: Tree
  readonly spool: Spool
  readonly attributes: AttributeStore
  readonly closeWait: CloseWait
  readonly settings: RmdirParts['settings'] & { readonly renameLimit: number }
}

interface Plan {
  readonly documents: Node[]
  readonly folders: Node[]
}

/** False where another call has changed what has these names, before anything moved: they are to be looked up anew. */
export async function renameFolder(parts: RenameFolderParts, move: Move, caller: Caller): Promise<boolean> {
  // The folders are held until the rename ends, so that another program that looks around, and lets go of what it has
  // seen, drops none of them.
  const held: Node[] = []
  try {
    return await renameHeld(parts, move, held, caller)
  } finally {
    for (const { ino } of held) parts.tree.nodes.forget(ino, 1)
  }
}

async function renameHeld(
  parts: RenameFolderParts,
  move: Move,
  held: Node[],
  caller: Caller,
): Promise<boolean> {
  const { node, from, to, target } = move
  const { name: oldName } = node
  // First: what cannot be moved takes the place of nothing.
  const listings = await list(parts.tree, node, held, parts.settings.renameLimit)
  if (target !== undefined && !(await isEmptied(parts, target, move, caller))) return false
  const documents = planned(parts.tree, node, listings)?.documents ?? []
  const [isTrash, wasTrash] = [isInTrash(to.path), isInTrash(node.path)]
  if (isTrash) await bringForTrash(parts, documents, caller.signal)
  // Dirty content is secured before its journal row promises it.
  for (const { content, isLocalOnly } of documents) {
    const staysHere = isTrash || (isLocalOnly && !wasTrash)
    if (content !== undefined) await (staysHere ? content.sync() : parts.spool.secure(content))
  }
  const isWhereItWas = !node.isUnlinked && node.parent === from && node.name === oldName
  if (!isWhereItWas || !isFree(parts.tree, move) || to.isUnlinked || isWithin(to, node)) return false
  // Nodes may have come and gone meanwhile: what moves is what is there now, at once.
  const plan = planned(parts.tree, node, listings)
  if (plan === undefined) return false
  // One came since.
  if (isTrash && plan.documents.some(({ isLocalOnly, content }) => !isLocalOnly && content === undefined))
    return false
  const jobs = parts.journal.transaction(() => {
    const moved = apply(parts, move, plan, caller)
    stayThoughEmpty(parts, from)
    return moved
  })
  if (jobs.length === 0) await parts.journal.durable()
  for (const job of jobs) await parts.closeWait.wait(job, caller.signal)
  return true
}

/** True if it can be replaced; false where it left its name meanwhile. Throws ENOTEMPTY, EBUSY. */
async function isEmptied(
  parts: RenameFolderParts,
  target: Node,
  { to, name }: Move,
  caller: Caller,
): Promise<boolean> {
  try {
    await checkIsEmpty(parts, to, target, caller)
    return true
  } catch (error) {
    if (isStill(target, to, name) || caller.signal.aborted) throw error
    return false
  }
}

/** True if the name still stands for the same target, and no change was made in that since it was looked into. */
function isFree(tree: Tree, { to, name, target }: Move): boolean {
  const listing = tree.listings.known(to)
  const now = listing === undefined ? tree.keptChild(to, name) : tree.child(to, name, listing)
  return now === target && (target === undefined || target.folder?.kept.size === 0)
}

/** Every folder under this one, listed afresh: a document that appeared meanwhile moves along. `folders` are held from then on. */
async function list(
  tree: Tree,
  top: Node,
  folders: Node[],
  mostDocuments: number,
): Promise<Map<Node, Listing>> {
  const listings = new Map<Node, Listing>()
  const hold = (folder: Node): void => {
    folder.door.remember()
    folders.push(folder)
  }
  hold(top)
  let documents = 0
  for (const folder of folders) {
    const listing = await listingNow(tree, folder)
    listings.set(folder, listing)
    for (const name of tree.names(folder, listing)) {
      const child = tree.child(folder, name, listing)
      if (child?.folder === undefined) documents++
      else hold(child)
    }
    checkLimit(top, documents, mostDocuments)
  }
  return listings
}

function listingNow(tree: Tree, folder: Node): MaybePromise<Listing> {
  const known = tree.listings.known(folder)
  return folder.folder?.isOnlyHere === true && known !== undefined ? known : tree.loadFresh(folder)
}

/** Everything under the folder; undefined where a folder in it has come since, and what is in that is not known. */
function planned(
  tree: Tree,
  folder: Node,
  listings: ReadonlyMap<Node, Listing>,
  plan: Plan = { documents: [], folders: [] },
): Plan | undefined {
  plan.folders.push(folder)
  const listing = tree.listings.known(folder) ?? listings.get(folder)
  if (listing === undefined) return undefined
  for (const name of tree.names(folder, listing)) {
    const child = tree.child(folder, name, listing)
    if (child === undefined) continue
    if (child.folder === undefined) plan.documents.push(child)
    else if (planned(tree, child, listings, plan) === undefined) return undefined
  }
  return plan
}

/** mv then copies and deletes in the open, where it can be watched and stopped. */
function checkLimit(folder: Node, documents: number, renameLimit: number): void {
  if (documents <= renameLimit) return
  throw new ErrnoError('EXDEV', `${folder.path}: more than ${renameLimit} documents (--rename-limit)`)
}

function apply(
  parts: RenameFolderParts,
  { node, to, name, target }: Move,
  plan: Plan,
  caller: Caller,
): Job[] {
  const { path: oldPath } = node
  const [isTrash, wasTrash] = [isInTrash(to.path), isInTrash(node.path)]
  const wasInService = node.folder?.isOnlyHere !== true
  for (const folder of plan.folders) {
    if (folder.folder?.isMadeHere === true) parts.journal.folders.remove(folder.path)
  }
  const left = new Map<Node, Left>()
  const here = new Map<Node, ScratchRow | undefined>()
  for (const document of plan.documents) {
    if (document.isLocalOnly) here.set(document, leaveScratchRow(parts, document))
    else if (isTrash) leaveService(parts, document, caller)()
    else left.set(document, leave(parts, document))
    parts.attributes.forget(document.path)
  }
  for (const folder of plan.folders) {
    if (folder !== node && folder.parent !== undefined && folder.folder?.isOnlyHere !== true)
      parts.tree.synced.touch(folder.path, undefined)
  }
  if (target !== undefined) leavePlace(parts, target)
  parts.tree.places.detach(node)
  parts.tree.places.attach(node, to, name)
  for (const folder of plan.folders) {
    arrive(parts, folder)
    if (isTrash) folder.folder?.makeOnlyHere()
  }
  const jobs = plan.documents
    .map((document) => {
      if (isTrash && !document.isLocalOnly) return trashed(parts, document)
      if (wasTrash && !isTrash && !isLocalName(document.name)) return published(parts, document)
      return moved(parts, document, left.get(document), here.get(document))
    })
    .filter((job) => job !== undefined)
  if (!wasInService) {
    hideFormer(parts, oldPath)
    return jobs
  }
  parts.tree.synced.touch(oldPath, undefined)
  const prune = parts.queue.submit({ kind: 'prune', path: oldPath })
  return prune === undefined ? jobs : [...jobs, prune]
}

/** An empty folder that is replaced. */
function leavePlace(parts: RenameFolderParts, target: Node): void {
  if (target.folder?.isMadeHere === true) parts.journal.folders.remove(target.path)
  parts.saved.gone(target.path)
  parts.tree.places.displace(target)
  parts.journal.afterCommit(() => {
    parts.tree.listings.forget(target)
    parts.tree.nodes.dropIfUnused(target)
  })
}

/** The version that stood there, and is on its way, shows in no folder that is made at the old place. */
function leave(parts: RenameFolderParts, document: Node): Left {
  const left = leavePath(parts, document)
  if (left.behind !== undefined) parts.tree.synced.touch(document.path, left.behind.fingerprint)
  return left
}

/** The folder is at its new place, where only what is kept exists so far. */
function arrive(parts: RenameFolderParts, folder: Node): void {
  if (folder.folder === undefined) return
  folder.folder.makeHere()
  parts.tree.places.came(folder)
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
  parts.tree.places.keep(document)
  // Back at its older place: what the service has there is its own.
  const { movesFrom } = document.unsent
  document.unsent.mayReplace(movesFrom?.path === document.path ? movesFrom.fingerprint : undefined)
  if (document.isLocalOnly) {
    arriveScratchRow(parts, document, here)
    return undefined
  }
  if (left?.isBeingWritten === true) return parts.saves.commitAtClose(document, left.accepted, left.set)
  return parts.saves.submit(document, document.content, document.content?.epoch ?? -1)
}

/** It is on this machine only from now on. */
function trashed(parts: RenameFolderParts, document: Node): undefined {
  parts.tree.places.keep(document)
  document.local.markLocalOnly()
  forgetStored(parts, document)
  saveLocalRow(parts, document)
}

/** It was in the trash, and is a document again: its content is secured. */
function published(parts: RenameFolderParts, document: Node): Job | undefined {
  parts.tree.places.keep(document)
  document.local.publish()
  document.unsent.mayReplace(undefined)
  return parts.saves.submit(document, document.content, document.content?.epoch ?? -1)
}
