// rename(2) of documents: also over an existing one, or editors destroy what they save. check → journal → apply → wait.

import { ErrnoError } from '../../errno-error.ts'
import type { Job } from '../../content/commit/job.ts'
import { bringHere, type BringParts } from '../unsent/bring-here.ts'
import type { Bursts } from '../unsent/bursts.ts'
import { forgetStored } from '../unsent/content.ts'
import { arriveScratchRow, leaveScratchRow, saveLocalRow } from '../unsent/local-rows.ts'
import { bringForTrash, leaveService } from './to-trash.ts'
import { stayThoughEmpty } from './folders.ts'
import { checkStands, childOf } from './lookup.ts'
import { isWithin, take, type Move } from './move.ts'
import { replacedByRename } from '../tree/begin-save.ts'
import { timeOfMs } from '../tree/attributes.ts'
import { checkName } from '../tree/names.ts'
import { isInTrash } from '../tree/trash.ts'
import type { Listing } from '../tree/listings.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, RenameFlags } from '../operations.ts'
import { renameFolder, type RenameFolderParts } from './rename-folder.ts'
import { sourceOf } from '../unsent/submit.ts'
import { isBackupName, isHiddenName, isLocalName, isOwnName } from '../tree/scratch.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { PathDepth } from '../tree/path-depth.ts'
import type { RefusedNames } from '../attention/refused-names.ts'
import type { Tree } from '../tree/tree.ts'
import { leavePath } from './leave-path.ts'
import type { Undecided } from '../unsent/undecided.ts'
import type { Sizes } from './sizes.ts'

/**
 * Fates of a document under its new name:
 * - `document`: the service shall know it so, at once.
 * - `backup`: the same, but its successor may come first (`f` → `f~`).
 * - `here`: it is on this machine only, and stays so.
 * - `deleted`: libfuse 2 keeps what is deleted while open under a name of its own.
 * - `trashed`: it is deleted, and its content is kept in the trash.
 */
type Fate = 'document' | 'backup' | 'here' | 'deleted' | 'trashed'

/** By whom; and as of which epoch the content is synced. */
interface How {
  readonly syncedEpoch: number
  readonly caller: Caller
}

interface Names {
  readonly from: Node
  readonly name: string
  readonly to: Node
  readonly newName: string
}

interface LookedUp extends Pick<Move, 'node' | 'target'> {
  readonly fate: Fate
}

export interface RenameParts extends RenameFolderParts, BringParts {
  readonly refusedNames: RefusedNames
  readonly undecided: Undecided
  readonly pathDepth: PathDepth
  readonly sizes: Sizes
  readonly bursts: Bursts
}

export async function rename(
  parts: RenameParts,
  parent: number,
  name: string,
  newParent: number,
  newName: string,
  { flags, caller }: { flags: RenameFlags; caller: Caller },
): Promise<void> {
  checkName(newName)
  if (flags.exchange) throw new ErrnoError('EINVAL', 'two names cannot be swapped here')
  const from = parts.tree.nodes.getFolder(parent)
  const to = parts.tree.nodes.getFolder(newParent)
  const names: Names = { from, name, to, newName }
  const asked = new Set<Node>()
  for (;;) {
    const before = lookedUp(parts.tree, names, await parts.tree.listing(from), await parts.tree.listing(to))
    const { fate } = before
    const isSent = fate === 'document' || fate === 'backup'
    if (fate !== 'deleted' && fate !== 'trashed') await checkType(parts, before.node, to, newName)
    if (fate === 'deleted') await bringWhatIsUnderWay(parts, before.node, caller.signal)
    if (fate === 'trashed') await bringForTrash(parts, [before.node], caller.signal)
    // A dirty document is synced before its journal row promises it.
    const { content } = before.node
    const syncedEpoch = content?.epoch ?? -1
    if (!isSent) await content?.sync()
    else if (content !== undefined) await parts.spool.secure(content)
    // Another call may have renamed, replaced or removed it meanwhile. From here on nothing is waited for, not even a promise that
    // is kept already: what the names stand for is what is renamed.
    const now = lookedUp(parts.tree, names, await parts.tree.listing(from), await parts.tree.listing(to))
    const { node, target } = now
    if (target === node) return
    if (node !== before.node || node.content !== content || now.fate !== fate) continue
    if (target === undefined && isSent) parts.pathDepth.check(to.path, newName)
    if (target !== undefined && flags.noReplace) throw new ErrnoError('EEXIST', `${target.path} exists`)
    const move: Move = { node, from, to, name: newName, target }
    checkKinds(move)
    // The kernel asks for the name again at ESTALE, and renames what it is told.
    if (caller.knows?.(from.ino, name, node.ino) === false)
      throw new ErrnoError('ESTALE', `${node.path}: another door changed this name meanwhile`)
    if (node.folder !== undefined) {
      if (await renameFolder(parts, move, caller)) return
      continue
    }
    if (isSent && isAboutToGo(parts.queue, node)) {
      await bringHere(parts, node, caller.signal)
      continue
    }
    const sizeUnknown = [node, target].find(
      (each) => each !== undefined && !asked.has(each) && parts.sizes.isSizeUnknown(each),
    )
    if (sizeUnknown !== undefined) {
      asked.add(sizeUnknown)
      await parts.sizes.loadRecord(sizeUnknown, caller)
      continue
    }
    const job = parts.journal.transaction(() => {
      const moved = renamed(parts, move, fate, { syncedEpoch, caller })
      node.times.renamed(timeOfMs(parts.clock.wall()))
      stayThoughEmpty(parts, from)
      return moved
    })
    const strictly = (each: Job): Promise<void> => parts.closeWait.wait(each, caller.signal)
    if (job?.intention.spool !== undefined)
      await parts.bursts.renamed({ job, size: node.size ?? 0, caller }, strictly)
    else if (job !== undefined) await strictly(job)
    // Renamed back: nothing is left to send, and the disk still knows the way there.
    else if (fate === 'document') await parts.journal.durable()
    return
  }
}

function renamed(parts: RenameParts, move: Move, fate: Fate, how: How): Job | undefined {
  switch (fate) {
    case 'document':
    case 'backup':
      return toDocument(parts, move, how, fate === 'backup')
    case 'here':
      return stayHere(parts, move)
    case 'deleted':
      return move.node.isLocalOnly ? stayHere(parts, move) : toHidden(parts, move, how)
    case 'trashed':
      return toHidden(parts, move, how)
  }
}

/**
 * The nodes that the names stand for now. The listings are those last told: where one was waited for longer than the
 * other, that is known anew.
 */
function lookedUp(tree: Tree, names: Names, fromListing: Listing, toListing: Listing): LookedUp {
  const { from, name, to, newName } = names
  checkStands(to)
  const node = childOf(tree, from, name, tree.listings.known(from) ?? fromListing)
  const target = tree.child(to, newName, tree.listings.known(to) ?? toListing)
  return { node, target, fate: fateOf(tree, node, to, newName, target) }
}

function fateOf(tree: Tree, node: Node, to: Node, newName: string, target: Node | undefined): Fate {
  if (node.folder !== undefined) return 'document'
  if (isInTrash(to.path)) return node.isLocalOnly ? 'here' : 'trashed'
  if (isHiddenName(newName)) {
    // libfuse decided to hide before it heard of the last close. At ESTALE the kernel asks again, and libfuse deletes.
    if (node.door.openHandles === 0) throw new ErrnoError('ESTALE', `${node.path} is closed: delete it`)
    return 'deleted'
  }
  if (!node.isLocalOnly) return isBackupName(newName) ? 'backup' : 'document'
  if (!isLocalName(newName)) return 'document'
  // A document that the service has, had or gets under that name is replaced there, whatever the name.
  const isStored = target === undefined ? tree.synced.in(to).has(newName) : !target.isLocalOnly
  return isStored ? 'document' : 'here'
}

/** Deleted while it is being moved: its bytes are between two places, so they come here first. */
async function bringWhatIsUnderWay(parts: BringParts, node: Node, signal: AbortSignal): Promise<void> {
  if (node.folder !== undefined || node.isLocalOnly || node.job === undefined || node.content !== undefined)
    return
  await bringHere(parts, node, signal)
}

/** Refused now, before anything moved, and not at some later commit. */
async function checkType(parts: RenameParts, node: Node, to: Node, newName: string): Promise<void> {
  if (node.folder !== undefined || isOwnName(newName)) return
  parts.refusedNames.check(to.path, newName)
  if (node.isLocalOnly) await parts.undecided.checkAs(node, to, newName)
}

function checkKinds({ node, to, target }: Move): void {
  if (node.folder !== undefined) {
    if (isWithin(to, node)) throw new ErrnoError('EINVAL', `${node.path} cannot be moved into itself`)
    if (target !== undefined && target.folder === undefined)
      throw new ErrnoError('ENOTDIR', `${target.path} is a document`)
  } else if (target?.folder !== undefined) {
    throw new ErrnoError('EISDIR', `${target.path} is a folder`)
  }
}

/** The node gets a name the service shall know. Sends what is to be sent, at once: rename is the last moment an editor listens. */
function toDocument(
  parts: RenameParts,
  move: Move,
  { syncedEpoch, caller }: How,
  isBackup: boolean,
): Job | undefined {
  const { node, to, name } = move
  const { path: oldPath, isLocalOnly: wasScratch } = node
  const hidden = parts.tree.synced.in(to).get(name)?.highest
  const base = replacedByRename(parts.tree.seen, move, hidden, caller)
  const replaced = node.unsent.base
  const pending = pendingUnder(parts.queue, node)
  // Its delete, which is taken back with the rename: one that fails leaves it as it is.
  if (pending !== undefined) parts.queue.withdraw(pending)
  const left = wasScratch ? undefined : leavePath(parts, node)
  take(parts, move)
  if (wasScratch) parts.journal.localFiles.remove(oldPath)
  if (left?.behind !== undefined) parts.tree.synced.touch(oldPath, left.behind.fingerprint)
  else if (!wasScratch && replaced !== undefined) {
    // The document that it was to replace has gone by now: a listing of before still shows it.
    parts.tree.synced.touch(oldPath, replaced)
    parts.tree.synced.agree(oldPath)
  }
  if (wasScratch) node.local.publish()
  const source = sourceOf(node)
  const isBack = source?.path === node.path
  node.unsent.mayReplace(isBack ? (source?.fingerprint ?? base) : base)
  // Content that was brought here means that the stored one is destroyed, or about to be.
  if (isBack && node.content === undefined) {
    const arriving = parts.queue.find(node.path)
    // Renamed back to where it is still on its way to: that goes on, and no more.
    if (arriving !== undefined && parts.owners.of(arriving.intention) === node) {
      parts.owners.handIn(node, arriving, { content: undefined, epoch: undefined })
      parts.attributes.saveWithChange(node, arriving.intention)
      return arriving
    }
    // Renamed back to where the service has it: nothing ever happened.
    parts.tree.backAtOwnPath(node)
    node.unsent.atOwnPath()
    parts.tree.places.settle(node)
    parts.attributes.save(node)
    return undefined
  }
  if (left?.isBeingWritten === true) return parts.saves.commitAtClose(node, left.accepted, left.set)
  if (!isBackup) return parts.saves.submit(node, node.content, syncedEpoch)
  parts.saves.submitBackup(node, syncedEpoch, oldPath)
  return undefined
}

/** The job at the path where the service has the version that a backup (`f~`) shows. */
function pendingUnder(queue: CommitQueue, { isLocalOnly, stored, content }: Node): Job | undefined {
  if (!isLocalOnly || stored.elsewhere === undefined || content !== undefined) return undefined
  return queue.first(stored.elsewhere)
}

/** A backup that becomes a document, and whose bytes go by something that is not taken back: they have to be here first. */
function isAboutToGo(queue: CommitQueue, node: Node): boolean {
  const pending = pendingUnder(queue, node)
  // A delete that stands behind something else is not of this version, and is not taken back alone.
  return pending !== undefined && !(pending.intention.kind === 'delete' && queue.mayWithdraw(pending))
}

/** A file that is on this machine only goes on under another name. */
function stayHere(parts: RenameParts, move: Move): undefined {
  const { node } = move
  const left = leaveScratchRow(parts, node)
  take(parts, move)
  // Somebody gave it this name.
  node.local.markLocalOnly()
  arriveScratchRow(parts, node, left)
}

/** The document is deleted, but for those who have it open. */
function toHidden(parts: RenameParts, move: Move, { caller }: How): undefined {
  const { node } = move
  const { storedPath } = node
  const leave = leaveService(parts, node, caller)
  take(parts, move)
  node.local.markLocalOnly()
  if (node.content !== undefined) forgetStored(parts, node)
  else if (storedPath !== undefined) parts.tree.versions.refer(node, storedPath)
  saveLocalRow(parts, node)
  leave()
}
