// rename(2) of documents: also over an existing one, or editors destroy what they save. check → journal → apply → wait.

import { ErrnoError } from '../../errno-error.ts'
import type { Job } from '../../content/commit/job.ts'
import { fingerprintOf } from '../../content/fingerprint.ts'
import { bringHere, discardContent, forgetStored, saveScratchRow } from '../unsent/content.ts'
import { stayThoughEmpty } from './folders.ts'
import { childOf } from './lookup.ts'
import type { Move } from './move.ts'
import { checkName } from '../tree/names.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, RenameFlags } from '../operations.ts'
import { renameFolder } from './rename-folder.ts'
import { commitAtClose, isBeingWritten, sourceOf, submit, waitForService } from '../unsent/submit.ts'
import { backupGraceMs, rest } from '../unsent/backup.ts'
import { isBackupName, isHiddenName, isLocalName } from '../tree/scratch.ts'
import type { Superblock } from '../superblock.ts'
import { leavePath } from './leave-path.ts'
import { graceMs as deleteGraceMs } from './unlink.ts'

/**
 * What a document is under its new name:
 * - `document`: the service shall know it so, at once.
 * - `backup`: the same, but its successor may come first (`f` → `f~`).
 * - `here`: it is on this machine only, and stays so.
 * - `deleted`: libfuse 2 keeps what is deleted while open under a name of its own.
 */
type Fate = 'document' | 'backup' | 'here' | 'deleted'

export async function rename(
  sb: Superblock,
  parent: number,
  name: string,
  newParent: number,
  newName: string,
  { flags, caller }: { flags: RenameFlags; caller: Caller },
): Promise<void> {
  checkName(newName)
  if (flags.exchange) throw new ErrnoError('EINVAL', 'two names cannot be swapped here')
  const from = sb.tree.nodes.getFolder(parent)
  const to = sb.tree.nodes.getFolder(newParent)
  const expected = await fate(sb, await nodeAt(sb, from, name), to, newName)
  const isSent = expected === 'document' || expected === 'backup'
  if (isSent) checkType(sb, await nodeAt(sb, from, name), to, newName)
  // A dirty document is synced before its journal row promises it; the names are looked at after that, at once.
  const before = await nodeAt(sb, from, name)
  if (expected === 'deleted') await bringWhatIsUnderWay(sb, before, caller.signal)
  else if (isSent) await reclaim(sb, before, caller.signal)
  const syncedEpoch = before.content?.epoch ?? -1
  if (!isSent) await before.content?.sync()
  else if (before.content !== undefined) await sb.spool.secure(before.content)
  const toListing = await sb.tree.listing(to)
  const node = await nodeAt(sb, from, name)
  const target = sb.tree.child(to, newName, toListing)
  if (target === node) return
  if (target !== undefined && flags.noReplace) throw new ErrnoError('EEXIST', `${target.path} exists`)
  const move: Move = { node, from, to, name: newName, target }
  checkKinds(move)
  if (node.folder !== undefined) {
    await renameFolder(sb, move, caller)
    return
  }
  const job = sb.journal.transaction(() => {
    sb.journal.onRollback(node.remembered())
    if (isSent) return toDocument(sb, move, syncedEpoch, expected === 'backup')
    if (expected === 'here') return stayHere(sb, move)
    return toHidden(sb, move)
  })
  if (job !== undefined) await waitForService(sb, job, caller.signal)
}

async function fate(sb: Superblock, node: Node, to: Node, newName: string): Promise<Fate> {
  if (node.folder !== undefined) return 'document'
  if (isHiddenName(newName) && node.door.openHandles > 0) return node.isScratch ? 'here' : 'deleted'
  if (!node.isScratch) return isBackupName(newName) ? 'backup' : 'document'
  if (!isLocalName(newName)) return 'document'
  const target = sb.tree.child(to, newName, await sb.tree.listing(to))
  // What the service has, or had, under that name is replaced there, whatever the name.
  const isStored =
    target === undefined ? to.folder?.tombstones.get(newName)?.fingerprint !== undefined : !target.isScratch
  return isStored ? 'document' : 'here'
}

/** Deleted while it is being moved: its bytes are between two places, so they come here first. */
async function bringWhatIsUnderWay(sb: Superblock, node: Node, signal: AbortSignal): Promise<void> {
  if (node.folder !== undefined || node.isScratch || node.job === undefined || node.content !== undefined)
    return
  await bringHere(sb, node, signal)
}

async function nodeAt(sb: Superblock, folder: Node, name: string): Promise<Node> {
  return childOf(sb, folder, name, await sb.tree.listing(folder))
}

/** Refused now, before anything moved, and not at some later commit. */
function checkType(sb: Superblock, node: Node, to: Node, newName: string): void {
  if (node.folder === undefined) sb.refusedNames.check(to.path, newName)
}

function checkKinds({ node, to, target }: Move): void {
  if (node.folder !== undefined) {
    for (let above: Node | undefined = to; above !== undefined; above = above.parent) {
      if (above === node) throw new ErrnoError('EINVAL', `${node.path} cannot be moved into itself`)
    }
    if (target !== undefined && target.folder === undefined)
      throw new ErrnoError('ENOTDIR', `${target.path} is a document`)
  } else if (target?.folder !== undefined) {
    throw new ErrnoError('EISDIR', `${target.path} is a folder`)
  }
}

/** The node gets a name the service shall know. Sends what is to be sent, at once: rename is the last moment an editor listens. */
function toDocument(sb: Superblock, move: Move, syncedEpoch: number, isBackup: boolean): Job | undefined {
  const { node, from } = move
  const { path: oldPath, name: oldName, isScratch: wasScratch } = node
  const base = baseOfTarget(move)
  const accepted = node.job?.intention.spool
  const left = wasScratch ? undefined : leavePath(sb, node)
  take(sb, move)
  if (wasScratch) sb.journal.removeScratch(oldPath)
  if (left !== undefined) sb.tree.bury(from, oldName, left.fingerprint)
  if (wasScratch) node.local.becomeDocument()
  const source = sourceOf(node)
  const isBack = source?.path === node.path
  node.unsent.mayReplace(isBack ? (source?.fingerprint ?? base) : base)
  // Content that was brought here means that the stored one is destroyed, or about to be.
  if (isBack && node.content === undefined) {
    // Renamed back to where the service has it: nothing ever happened.
    sb.tree.versions.returned(node)
    node.unsent.isHome()
    sb.tree.settle(node)
    return undefined
  }
  if (!wasScratch && isBeingWritten(node))
    return commitAtClose(sb, node, node.job === undefined ? accepted : undefined)
  if (!isBackup) return submit(sb, node, node.content, syncedEpoch)
  const job = submit(sb, node, node.content, syncedEpoch, backupGraceMs)
  if (job !== undefined) rest(sb, oldPath, { node, job })
  return undefined
}

/**
 * A backup (`f~`) that shows a version the service still has at `f` becomes a document: the pending delete of that version
 * is taken back, or, where something else is on its way to `f`, the bytes are brought here first.
 */
async function reclaim(sb: Superblock, node: Node, signal: AbortSignal): Promise<void> {
  if (!node.isScratch || node.stored.elsewhere === undefined || node.content !== undefined) return
  // A delete that stands behind something else is not of this version, and is not taken back alone.
  const pending = sb.queue.first(node.stored.elsewhere)
  if (pending === undefined) return
  if (pending.intention.kind === 'delete' && sb.queue.withdraw(pending)) return
  await bringHere(sb, node, signal)
}

/** A file that is on this machine only goes on under another name. */
function stayHere(sb: Superblock, move: Move): undefined {
  const { node } = move
  sb.journal.removeScratch(node.path)
  take(sb, move)
  saveScratchRow(sb, node)
}

/** The document is deleted, but for those who have it open. */
function toHidden(sb: Superblock, move: Move): undefined {
  const { node, from } = move
  const { path: oldPath, name: oldName, storedPath, remote } = node
  const { base } = node.unsent
  take(sb, move)
  node.local.stay()
  const mayBeStored = remote !== undefined || node.job !== undefined || base !== undefined
  if (node.content !== undefined) forgetStored(sb, node)
  else if (storedPath !== undefined) sb.tree.versions.refer(node, storedPath)
  saveScratchRow(sb, node)
  if (!mayBeStored) return
  const fingerprint = remote === undefined ? base : fingerprintOf(remote)
  sb.tree.bury(from, oldName, fingerprint)
  const job = sb.queue.submit({ kind: 'delete', path: oldPath, base: fingerprint, restMs: deleteGraceMs })
  node.unsent.givenUp()
  if (job?.intention.path !== oldPath) sb.tree.unhide(from, oldName)
}

/** Which version at the target this mount has seen, and may replace. */
function baseOfTarget({ to, name, target }: Move): string | undefined {
  if (target === undefined) return to.folder?.tombstones.get(name)?.fingerprint
  return target.unsent.base ?? target.stored.fingerprint
}

/** The node takes the new name; what had it goes, its open handles keep their content. */
function take(sb: Superblock, { node, from, to, name, target }: Move): void {
  if (target !== undefined) {
    const { storedPath } = target
    sb.tree.displace(target)
    if (target.isScratch) sb.journal.removeScratch(target.path)
    if (target.door.openHandles > 0 && storedPath !== undefined && target.content === undefined)
      sb.tree.versions.refer(target, storedPath)
    discardContent(sb, target)
    sb.journal.afterCommit(() => sb.tree.nodes.dropIfUnused(target))
  }
  sb.attributes.forget(node.path)
  sb.tree.detach(node)
  sb.tree.attach(node, to, name)
  stayThoughEmpty(sb, from)
}
