// The way up: what the queue says of an intention, and what the tree makes of it.

import type { QueueEvent } from '../../content/commit/queue-event.ts'
import { fingerprintOf } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import type { RemoteFile } from '../../api/types.ts'
import { attributesOf } from '../tree/attributes.ts'
import { discardContent, rebindReaders } from './content.ts'
import { giveToCache } from './give-to-cache.ts'
import { gaveWay } from './give-way.ts'
import type { Node } from '../tree/node.ts'
import type { Superblock } from '../superblock.ts'
import { folderOf, nameOf } from '../../path.ts'

/** The tree follows the queue. Synchronous: what it journals belongs to the queue's own transaction. */
export function agreed(sb: Superblock, event: QueueEvent): void {
  switch (event.kind) {
    case 'done':
      return committed(sb, event.intention, event.record)
    case 'outpaced':
      return outpaced(sb, event.intention, event.record)
    case 'superseded':
      // A newer intention took this one's place.
      return void sb.owners.goesOnAs(event.intention, undefined)
    case 'replaced':
      return void sb.owners.goesOnAs(event.intention, event.successor)
    case 'refused':
      return refused(sb, event.intention)
    case 'gaveWay':
      return gaveWay(sb, event.intention)
  }
}

/** The service has it: so it shows. */
function committed(sb: Superblock, intention: Intention, record: RemoteFile | undefined): void {
  const node = sb.owners.goesOnAs(intention, undefined)
  settleWhatLeft(sb, intention)
  noteArrival(sb, intention, record)
  if (node === undefined || record === undefined) return
  const isLatest = node.job === undefined
  if (node.path !== intention.path || node.isScratch) {
    foundElsewhere(sb, node, intention.path, record)
    return
  }
  // The service dates what it stores; here a document keeps the time it was written, also when it is renamed.
  node.times.pin(attributesOf(node, sb.owner))
  sb.tree.versions.store(node, record, sb.clock.steady())
  node.unsent.arrived()
  if (isLatest && node.content !== undefined && node.content.id === intention.spool) {
    node.local.saved()
  }
  if (node.isUnlinked) {
    discardContent(sb, node)
    return
  }
  sb.attributes.save(node)
  landFolders(sb, node)
  // What is still to be sent, or being written, is no listing's to decide.
  if (isLatest && !node.isDirty) sb.tree.settle(node)
  else sb.tree.settleFolders(node)
  // The row claims the content until the transaction is on disk.
  if (isLatest) sb.journal.afterCommit(() => giveToCache(sb, node))
  rebindReaders(sb, node)
  sb.journal.afterCommit(() => sb.tree.nodes.dropIfUnused(node))
}

/** The service has an older state of content that is being written again: the next commit stands on that. */
function outpaced(sb: Superblock, intention: Intention, record: RemoteFile | undefined): void {
  settleWhatLeft(sb, intention)
  noteArrival(sb, intention, record)
  const node = sb.owners.of(intention)
  if (node === undefined || record === undefined) return
  if (node.path !== intention.path || node.isScratch) {
    foundElsewhere(sb, node, intention.path, record)
    return
  }
  sb.tree.versions.store(node, record, sb.clock.steady())
  landFolders(sb, node)
}

/** A node moved on while its commit was under way: here is where the next step finds it. */
function foundElsewhere(sb: Superblock, node: Node, path: string, record: RemoteFile): void {
  if (node.isScratch && node.content !== undefined) return
  sb.tree.versions.showAt(node, path, record, sb.clock.steady())
}

/** What stands at a path that was to be left meanwhile is the version that goes. */
function noteArrival(sb: Superblock, { path }: Intention, record: RemoteFile | undefined): void {
  const { folder, name } = placeOf(sb, path)
  if (folder !== undefined && record !== undefined) sb.tree.arrivedHidden(folder, name, fingerprintOf(record))
}

/** What the intention took away is gone from the service. */
function settleWhatLeft(sb: Superblock, intention: Intention): void {
  const { kind, path, base, source, sourceFingerprint, keepSource } = intention
  if (kind !== 'put') settleAway(sb, path, base)
  else if (source !== undefined && keepSource !== true) settleAway(sb, source, sourceFingerprint)
}

/** The folders above exist in the service now. */
function landFolders(sb: Superblock, node: Node): void {
  for (let folder = node.parent; folder?.folder !== undefined; folder = folder.parent) {
    if (folder.folder.isMadeHere) landed(sb, folder)
  }
}

/** A folder made here is in the service now. */
export function landed(sb: Superblock, folder: Node): void {
  if (folder.folder === undefined) return
  const state = folder.folder
  const { isMadeHere, isOnlyHere } = state
  sb.journal.onRollback(() => Object.assign(state, { isMadeHere, isOnlyHere }))
  sb.journal.onRollback(folder.remembered())
  state.isMadeHere = false
  state.isOnlyHere = false
  folder.settledAt = sb.clock.steady()
  sb.journal.removeFolder(folder.path)
}

/** Nothing is at this path any more. */
function settleAway(sb: Superblock, path: string, fingerprint: string | undefined): void {
  const { folder, name } = placeOf(sb, path)
  if (folder !== undefined) {
    // It was shown again after a refusal.
    const shown = sb.tree.listings.known(folder)?.names.get(name)
    const isHidden = folder.folder?.tombstones.has(name) === true || folder.folder?.kept.has(name) === true
    if (!isHidden && shown?.kind === 'file' && fingerprintOf(shown) === fingerprint)
      sb.tree.vanish(folder, name, fingerprint)
    sb.tree.settleTombstone(folder, name, fingerprint)
  }
  sb.attributes.forget(path)
}

/** A delete the service refuses: the document is still there, so it shows again, until somebody retries. */
function refused(sb: Superblock, { kind, path, lastError }: Intention): void {
  sb.tell({ kind: 'refused', path, reason: lastError ?? '' })
  if (kind !== 'delete') return
  const { folder, name } = placeOf(sb, path)
  if (folder !== undefined) sb.tree.unbury(folder, name)
  sb.log.error({ path, error: lastError }, 'the service refused to delete it: it is shown again')
}

function placeOf(sb: Superblock, path: string): { folder: Node | undefined; name: string } {
  return { folder: sb.tree.find(folderOf(path)), name: nameOf(path) }
}
