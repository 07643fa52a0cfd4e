// The tree follows the queue: when a change was sent, was replaced by another or is refused, its document shows that.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Job } from '../../content/commit/job.ts'
import type { QueueEvent } from '../../content/commit/queue-event.ts'
import { fingerprintOf } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { RemoteFile } from '../../api/types.ts'
import type { ConflictCopies } from '../attention/conflict-copies.ts'
import type { PathDepth } from '../tree/path-depth.ts'
import { attributesOf } from '../tree/attributes.ts'
import { revertRename } from './revert-rename.ts'
import { discardContent, rebindReaders } from './content.ts'
import { giveToCache, type CacheParts } from './give-to-cache.ts'
import { moveDetached, showCarried, type MoveDetachedParts } from './materialize.ts'
import { saveLocalRow, type LocalRowParts } from './local-rows.ts'
import type { Node } from '../tree/node.ts'
import { isUnsubmitted } from './unsubmitted.ts'
import { remember, rememberFolder, type RememberParts } from './remember.ts'
import type { Log } from '../../log.ts'
import type { Clock } from '../../world/clock.ts'
import type { Notice } from '../notice.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Tree } from '../tree/tree.ts'
import { folderOf, nameOf } from '../../path.ts'

interface LeftParts {
  readonly tree: Tree
  readonly queue: Pick<CommitQueue, 'isToBeEmptied'>
  readonly attributes: AttributeStore
}

interface RefusedParts {
  readonly tree: Tree
  readonly pathDepth: PathDepth
  readonly log: Log
  readonly tell: (notice: Notice) => void
}

interface ConflictParts extends RefusedParts {
  readonly conflicts: ConflictCopies
}

type ReplacedParts = LeftParts & MoveDetachedParts

interface LandParts extends RememberParts {
  readonly journal: Journal
  readonly tree: Tree
  readonly clock: Clock
}

export interface FolderLandedParts extends LandParts {
  readonly log: Log
}

interface ElsewhereParts extends LocalRowParts {
  readonly tree: Tree
  readonly clock: Clock
}

export interface AgreedParts
  extends ElsewhereParts, LeftParts, RefusedParts, ConflictParts, LandParts, MoveDetachedParts, CacheParts {}

/**
 * Called for each event of the queue. Synchronous, because what it journals belongs to the queue's own transaction. At `refused`
 * there is none, and nothing is journaled; `conflictKept` makes one of its own.
 */
export function agreed(parts: AgreedParts, event: QueueEvent): void {
  switch (event.kind) {
    case 'done':
      if (event.record !== undefined) parts.pathDepth.taken(event.intention.path)
      stored(parts.tree, event.intention, event.record)
      committed(parts, event.intention, event.record)
      return remember(parts, event.intention, event.record)
    case 'contentSuperseded':
      stored(parts.tree, event.intention, event.record)
      contentSuperseded(parts, event.intention, event.record)
      return remember(parts, event.intention, event.record)
    case 'superseded':
      // A newer intention took this one's place.
      return void parts.owners.goesOnAs(event.intention, undefined)
    case 'replaced':
      return replaced(parts, event.intention, event.successor)
    case 'refused':
      parts.pathDepth.refused(event.intention.path, event.error)
      return refused(parts, event.intention)
    case 'conflictKept':
      return conflictKept(parts, event.intention, event.copy)
    case 'standsOn':
      return standsOn(parts.tree, event.intention)
    case 'moveDetached':
      moveDetached(parts, event.intention)
      return releaseSourceName(parts, event.intention, event.left)
  }
}

/** Notes the version that is stored now as one saved here, or moved here: then it is known as far as it was at its source. */
function stored({ seen }: Tree, intention: Intention, record: RemoteFile | undefined): void {
  const { path, source, sourceFingerprint, spool, movedForeignVersion } = intention
  if (record === undefined) return
  const fingerprint = fingerprintOf(record)
  if (movedForeignVersion === true) seen.brought(path, fingerprint)
  else if (spool !== undefined || source === undefined) seen.wrote(path, fingerprint)
  else seen.moved({ path: source, fingerprint: sourceFingerprint }, path, fingerprint)
}

/** Notes that a save may replace the version it is based on, without a loss for another client. */
function standsOn({ seen }: Tree, { path, base }: Intention): void {
  if (base !== undefined) seen.wrote(path, base)
}

/** Tells the user that another client's version is kept beside ours, at `copy`. */
function conflictKept(parts: ConflictParts, { path }: Intention, copy: string): void {
  parts.conflicts.kept(path, copy)
  parts.log.warn({ path, copy }, 'another client changed it too: their version is kept beside ours')
  parts.tell({ kind: 'conflict', path, copy })
  // Asked for anew: the copy shows at once, not when the listing is old.
  void parts.tree.look(copy)
}

/** The service has the change: its document shows the stored version from now on. */
function committed(parts: AgreedParts, intention: Intention, record: RemoteFile | undefined): void {
  const node = parts.owners.goesOnAs(intention, undefined)
  settleWhatLeft(parts, intention)
  onUploaded(parts, intention, record)
  if (node === undefined || record === undefined) return
  const isLatest = node.job === undefined
  if (node.path !== intention.path || node.isLocalOnly) {
    foundElsewhere(parts, node, intention, record)
    return
  }
  if (isLatest) parts.owners.settled(node)
  // The service dates what it stores; here a document keeps the time it was written, also when it is renamed.
  node.times.freeze(attributesOf(node, parts.owner))
  parts.tree.versions.store(node, record, parts.clock.steady())
  noteForeignVersion(parts.tree, node, intention)
  node.unsent.arrived()
  if (isLatest && node.content !== undefined && node.content.id === intention.spool) {
    node.local.saved()
  }
  if (node.isUnlinked) discardContent(parts, node)
  else shownAsStored(parts, node, isLatest)
  parts.journal.afterCommit(() => parts.tree.nodes.dropIfUnused(node))
}

/** For a document with a name. `isLatest`: no newer change of it is still to be sent. */
function shownAsStored(parts: AgreedParts, node: Node, isLatest: boolean): void {
  if (isLatest) parts.attributes.settled(node)
  else parts.attributes.save(node)
  markFoldersCreatedRemotely(parts, node)
  // A document that is still to be sent, or being written, is no listing's to decide.
  if (isLatest && !node.isDirty) parts.tree.places.settle(node)
  else parts.tree.places.settleFolders(node)
  // The row claims the content until the transaction is on disk.
  if (isLatest) parts.journal.afterCommit(() => giveToCache(parts, node))
  rebindReaders(parts.handles, node)
}

/** `successor` takes the change's place; undefined if nothing is left to be sent of the document, such as one that was renamed back. */
function replaced(parts: ReplacedParts, intention: Intention, successor: Job | undefined): void {
  const isSent = successor?.intention.kind === 'put'
  // A successor that only deletes what the change left at an earlier path is no change of the document.
  const node = parts.owners.goesOnAs(intention, isSent ? successor : undefined)
  releaseGivenUpName(parts, intention, successor)
  const carried = node?.job === successor ? successor?.intention.spool : undefined
  // The successor may carry the content of an older change, which was replaced before.
  if (node !== undefined && node.content === undefined && carried !== undefined)
    showCarried(parts, node, carried)
  if (node === undefined || isSent) return
  parts.attributes.settled(node)
  if (intention.kind === 'put' && node.path === intention.path && node.job === undefined)
    revertRename(parts.tree, node)
}

/** Shows again what is at the path that the change was to empty, if no other change will empty it. */
function releaseGivenUpName(
  { tree, queue }: LeftParts,
  intention: Intention,
  successor: Job | undefined,
): void {
  const { kind, path, source, keepSource } = intention
  const isGivenUp = kind === 'delete' && successor === undefined
  const left = isGivenUp ? path : keepSource === true || source === path ? undefined : source
  if (left === undefined || queue.isToBeEmptied(left)) return
  if (!isOpen(tree, left)) return
  tree.synced.leaveToListings(left)
  askAgainAt(tree, left)
}

/** The service has an older state of content that is being written again: the next change is based on that. */
function contentSuperseded(parts: AgreedParts, intention: Intention, record: RemoteFile | undefined): void {
  settleWhatLeft(parts, intention)
  onUploaded(parts, intention, record)
  const node = parts.owners.of(intention)
  if (node === undefined || record === undefined) return
  if (node.path !== intention.path || node.isLocalOnly) {
    foundElsewhere(parts, node, intention, record)
    return
  }
  parts.tree.versions.store(node, record, parts.clock.steady())
  noteForeignVersion(parts.tree, node, intention)
  markFoldersCreatedRemotely(parts, node)
}

/** For a document that was renamed while its change was being sent: notes where the service has its content. */
function foundElsewhere(parts: ElsewhereParts, node: Node, intention: Intention, record: RemoteFile): void {
  if (node.isLocalOnly && node.content !== undefined) return
  parts.tree.versions.showAt(node, intention.path, record, parts.clock.steady())
  noteForeignVersion(parts.tree, node, intention)
  // Its row says where its bytes are, which is another place now.
  if (node.isLocalOnly && !node.isUnlinked) saveLocalRow(parts, node)
}

/**
 * For a move of a version that another client had stored: what is cached of the version that programs here know is not mixed with
 * it, and their next save does not replace it.
 */
function noteForeignVersion(
  tree: Tree,
  node: Node,
  { movedForeignVersion, path, sourceFingerprint }: Intention,
): void {
  if (movedForeignVersion !== true) return
  if (!node.isDirty) tree.overtaken(node)
  else if (node.path === path) node.unsent.mayReplace(sourceFingerprint)
}

/**
 * For a version that arrived at a path where something else is wanted by now: if the path is to be emptied, this version goes; a
 * document that was renamed to it and is being written replaces it.
 */
function onUploaded(
  { tree }: LeftParts,
  { path, movedForeignVersion }: Intention,
  record: RemoteFile | undefined,
): void {
  if (record === undefined) return
  tree.synced.arrived(path, fingerprintOf(record))
  const { folder, name } = placeOf(tree, path)
  if (folder === undefined) return
  const node = tree.keptChild(folder, name)
  // A version that another client stored there has been seen by nobody.
  if (node === undefined || !isInFront(node) || movedForeignVersion === true) return
  node.unsent.mayReplace(fingerprintOf(record))
}

/** True for a document that is being written, or is a copy that the service is to make: its close sends it. */
function isInFront(node: Node): boolean {
  return node.folder === undefined && !node.isLocalOnly && node.job === undefined && isUnsubmitted(node)
}

/** Notes that the service has emptied the path that the change deletes or moves from. */
function settleWhatLeft(parts: LeftParts, intention: Intention): void {
  const { kind, path, base, source, sourceFingerprint, keepSource } = intention
  if (kind !== 'put') settleAway(parts, intention, path, base)
  else if (source !== undefined && keepSource !== true)
    settleAway(parts, intention, source, sourceFingerprint)
}

/**
 * Notes that the folders above the document exist in the service now. Not one that is empty here by now: in the service it goes
 * with its last document.
 */
function markFoldersCreatedRemotely(parts: LandParts, node: Node): void {
  for (let folder = node.parent; folder?.folder !== undefined; folder = folder.parent) {
    if (folder.folder.isMadeHere && !parts.tree.isEmpty(folder)) markCreatedRemotely(parts, folder)
  }
}

/** Called when a listing shows a folder that was made here. Never throws: if it cannot be journaled now, the next listing tries again. */
export function folderCreatedRemotely(parts: FolderLandedParts, folder: Node): void {
  try {
    markCreatedRemotely(parts, folder)
  } catch (error) {
    parts.log.warn(
      { path: folder.path, error: String(error) },
      'a folder made here is in the service now, which could not be journaled yet',
    )
  }
}

/** Notes that a folder that was made here is in the service now. */
function markCreatedRemotely(parts: LandParts, folder: Node): void {
  const state = folder.folder
  if (state === undefined) return
  parts.journal.transaction(() => {
    state.markCreatedRemotely()
    parts.tree.places.settleSince(folder)
    parts.journal.folders.remove(folder.path)
    rememberFolder(parts, folder)
  })
}

/** The service has not agreed yet to what is wanted at the path. */
function isOpen({ synced }: Tree, path: string): boolean {
  return synced.at(path)?.agreedAt === undefined
}

function askAgainAt(tree: Tree, path: string): void {
  const { folder } = placeOf(tree, path)
  if (folder !== undefined) tree.askAgain(folder)
}

/** It takes nothing away from its source any more: what comes to stand there shows. */
function releaseSourceName({ tree, queue }: LeftParts, intention: Intention, left: string | undefined): void {
  if (left === undefined || left === intention.path || queue.isToBeEmptied(left, intention)) return
  if (!isOpen(tree, left)) return
  // A listing that lags may still show the version that was moved; where none was known there, it shows another client's.
  if (tree.synced.at(left)?.highest === undefined) tree.synced.leaveToListings(left)
  else tree.synced.agree(left)
  askAgainAt(tree, left)
}

/** Notes that the path is empty in the service now. */
function settleAway(
  parts: LeftParts,
  intention: Intention,
  path: string,
  fingerprint: string | undefined,
): void {
  const { folder, name } = placeOf(parts.tree, path)
  // If another change is to empty the path, too, the path stays hidden until that one is done.
  const isAgreed = !parts.queue.isToBeEmptied(path, intention)
  if (folder !== undefined) {
    // A document that was shown again after a refused delete is hidden now.
    const shown = parts.tree.listings.known(folder)?.names.get(name)
    const isHidden = parts.tree.synced.at(path) !== undefined || folder.folder?.kept.has(name) === true
    if (!isHidden && shown?.kind === 'file' && fingerprintOf(shown) === fingerprint) {
      parts.tree.synced.touch(path, fingerprint)
      parts.tree.places.changedAt(folder, name)
    }
  }
  if (isAgreed) parts.tree.synced.agree(path, fingerprint)
  if (intention.kind === 'prune') settleBelow(parts, intention, path)
  parts.attributes.left(path)
}

/** Names of a folder that is gone are hidden in the one made there since for no longer than listings lag. */
function settleBelow({ tree, queue }: LeftParts, prune: Intention, path: string): void {
  for (const below of tree.synced.openUnder(path))
    if (!queue.isToBeEmptied(below, prune)) tree.synced.agree(below)
  const top = tree.find(path)
  const folders = top?.folder === undefined ? [] : [top]
  for (const folder of folders) {
    for (const child of folder.folder?.children.values() ?? [])
      if (child.folder !== undefined) folders.push(child)
    tree.listings.expire(folder)
  }
}

/** Tells the user. A document whose delete is refused shows again, until the delete is retried. Journals nothing. */
function refused(parts: RefusedParts, { kind, path, spool, lastError, errorErrno }: Intention): void {
  // Another try cannot help damaged content: the message says so.
  if (errorErrno === 'EBADMSG') parts.tell({ kind: 'damaged', sentence: lastError ?? path })
  else parts.tell({ kind: 'refused', path, reason: lastError ?? '', isKept: spool !== undefined })
  if (kind !== 'delete') return
  const { folder, name } = placeOf(parts.tree, path)
  if (parts.tree.synced.at(path) !== undefined) {
    parts.tree.synced.drop(path)
    if (folder !== undefined) {
      parts.tree.listings.forget(folder)
      parts.tree.places.changedAt(folder, name)
    }
  }
  parts.log.error({ path, error: lastError }, 'the service refused to delete it: it is shown again')
}

function placeOf(tree: Tree, path: string): { folder: Node | undefined; name: string } {
  return { folder: tree.find(folderOf(path)), name: nameOf(path) }
}
