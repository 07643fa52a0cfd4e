// After a restart: the view shows what the journal says is wanted, before the service has heard of it.

import type { RemoteFile } from '../../api/types.ts'
import type { Job } from '../../content/commit/job.ts'
import { digestOf, digestOfBytes, isSameDigest } from '../../content/digest.ts'
import { modifiedAtIn } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import { isTemporary } from '../../content/spool/spool.ts'
import { discardContent, takeContent } from './content.ts'
import type { Node } from '../tree/node.ts'
import { isBackupName, isHiddenName } from '../tree/scratch.ts'
import type { Superblock } from '../superblock.ts'
import { folderOf, nameOf } from '../../path.ts'

/** Puts everything that is true only here back into the tree, then lets the queue go on. */
export async function recover(sb: Superblock): Promise<void> {
  for (const path of sb.journal.folders()) {
    const folder = ensureFolder(sb, path)
    if (folder.folder !== undefined) folder.folder.isMadeHere = true
    sb.tree.keep(folder)
  }
  restoreContents(sb)
  const intentions = sb.journal.intentions()
  for (const intention of intentions) await rememberWhatWasSent(sb, intention)
  sb.queue.resume(intentions)
  for (const job of sb.queue.jobs()) restore(sb, job)
  // Last: a backup may share its content with what is on its way, and keeps it.
  for (const row of sb.journal.scratchFiles()) {
    // libfuse 2 renames what is unlinked while open; the last close, which removes it, did not come.
    if (isHiddenName(nameOf(row.path))) {
      sb.journal.removeScratch(row.path)
      continue
    }
    const node = place(sb, row.path)
    node.local.stay()
    if (row.spool !== undefined) restoreContent(sb, node, row.spool)
    else if (row.reference !== undefined) showStored(sb, node, row.reference)
    node.local.saved()
    // What an earlier version kept here for its name alone is sent at once.
    sb.localOnly.found(node, !isBackupName(node.name))
  }
  if (intentions.length > 0)
    sb.log.info({ intentions: intentions.length }, 'going on with what an earlier run left unsent')
}

/** A power cut may have left less in the spool than in the journal. */
function restoreContents(sb: Superblock): void {
  const saved = new Map(sb.journal.intentions().map(({ spool, digest }) => [spool, digest]))
  for (const { spool, bytes } of sb.journal.contents()) {
    const digest = saved.get(spool)
    if (!sb.claims.has(spool)) sb.journal.removeContent(spool)
    else if (digest === undefined || isSameDigest(digestOfBytes(bytes), digest))
      sb.spool.restore(spool, bytes)
  }
}

/** What was on its way when the last run ended may have arrived: its digest tells it from another client's version. */
async function rememberWhatWasSent(sb: Superblock, intention: Intention): Promise<void> {
  if (intention.kind !== 'put' || intention.spool === undefined) return
  if (intention.digest !== undefined) {
    intention.doubts = [...intention.doubts, intention.digest]
    return
  }
  // Journaled by a docmount that kept no digests.
  try {
    const content = sb.spool.get(intention.spool)
    intention.doubts = [...intention.doubts, await digestOf(content.stream())]
    content.idle()
  } catch (error) {
    sb.log.error(
      { path: intention.path, error: String(error) },
      'the spooled content of this document cannot be read',
    )
  }
}

/**
 * Spool files that nobody claims: what the journal says is of no use, and what is empty, goes; what is not understood is
 * kept and named.
 */
export async function sweepSpool(sb: Superblock): Promise<void> {
  const dropped = sb.journal.dropped()
  const now = new Date()
  for (const id of await sb.spool.ids()) {
    if (sb.claims.has(id)) continue
    if (dropped.has(id) || isTemporary(id) || sb.spool.get(id).size === 0) {
      await sb.spool.remove(id)
      continue
    }
    const { file, path, name, bytes, isWhole } = await sb.lost.keep(sb.spool, id, now)
    sb.log.warn(
      { file, path, name, bytes, isWhole },
      'content that the journal does not know of is kept in lost+found: docmount recover --lost takes it out',
    )
    sb.tell({ kind: 'lost', path, file })
  }
  sb.journal.forgetDropped()
}

function restore(sb: Superblock, job: Job): void {
  const { intention } = job
  const { folder, name } = parentOf(sb, intention.path)
  if (intention.kind !== 'put') {
    // Refused: it is still there, and shows.
    if (intention.isRefused) return
    const standing = folder.folder?.children.get(name)
    if (standing !== undefined && standing.folder === undefined) moveOut(sb, folder, standing)
    sb.tree.bury(folder, name, intention.base)
    return
  }
  if (intention.spool !== undefined && !sb.spool.has(intention.spool)) return restoreEmpty(sb, job)
  const node = place(sb, intention.path)
  node.unsent.mayReplace(intention.base)
  if (intention.spool !== undefined) restoreContent(sb, node, intention.spool)
  if (intention.digest !== undefined) node.content?.knowDigest(intention.digest)
  sb.owners.restore(node, job)
  restoreSource(sb, node, intention)
}

/** Its content is gone from this machine: what the service has shows, or, where it never had any, a document that cannot be read. */
function restoreEmpty(sb: Superblock, job: Job): void {
  const { path, base, source, size } = job.intention
  if (base !== undefined || source !== undefined) return
  const node = place(sb, path)
  sb.owners.restore(node, job)
  showStored(sb, node, { path, fingerprint: '', size })
}

function restoreSource(sb: Superblock, node: Node, intention: Intention): void {
  const { source } = intention
  if (source === undefined || source === intention.path) return
  const { folder, name } = parentOf(sb, source)
  // It was on its way to its old name when it was renamed: that arrives first, and is moved on.
  const standing = folder.folder?.children.get(name)
  if (intention.spool === undefined) {
    const { path, fingerprint } = whereItIs(intention, source, standing)
    showStored(sb, node, { path, fingerprint: fingerprint ?? '', size: intention.size })
  }
  if (intention.keepSource === true) return
  if (standing !== undefined && standing.folder === undefined) {
    sb.owners.handOver(standing, node)
    moveOut(sb, folder, standing)
  }
  sb.tree.bury(folder, name, intention.sourceFingerprint)
}

/** Where the service has the bytes of a move at the start. */
function whereItIs(
  intention: Intention,
  source: string,
  standing: Node | undefined,
): { path: string; fingerprint: string | undefined } {
  // Proven: the bytes are at the new place, and may be gone from the old one.
  if (intention.isProven) return { path: intention.path, fingerprint: intention.base }
  return standing?.version ?? { path: source, fingerprint: intention.sourceFingerprint }
}

/** The document is not there any more; nor are the folders that were there for it alone, unless a listing says so. */
function moveOut(sb: Superblock, from: Node, document: Node): void {
  sb.tree.displace(document)
  // Its row claims the content for as long as that is needed.
  discardContent(sb, document)
  sb.tree.nodes.dropIfUnused(document)
  for (let folder: Node = from; folder.parent !== undefined; folder = folder.parent) {
    if (folder.folder === undefined || folder.folder.isMadeHere || folder.folder.kept.size > 0) return
    sb.tree.unkeep(folder)
  }
}

function restoreContent(sb: Superblock, node: Node, spool: string): void {
  try {
    const file = sb.spool.get(spool)
    takeContent(sb, node, file)
    file.idle()
  } catch (error) {
    sb.log.error(
      { path: node.path, spool, error: String(error) },
      'the spooled content of this document is missing',
    )
  }
}

/** The node shows a version whose record is not here: its fingerprint tells size and time. */
function showStored(
  sb: Superblock,
  node: Node,
  version: { path: string; fingerprint: string; size: number | undefined },
): void {
  const record: RemoteFile = {
    kind: 'file',
    name: node.name,
    size: version.size,
    mimetype: undefined,
    modifiedAt: modifiedAtIn(version.fingerprint),
    url: undefined,
  }
  sb.tree.versions.showAt(node, version.path, record, 0)
}

/** A kept document node at a path, with the folders above it. It takes the place of what an older row has put there. */
function place(sb: Superblock, path: string): Node {
  const { folder, name } = parentOf(sb, path)
  const standing = folder.folder?.children.get(name)
  if (standing !== undefined && standing.folder === undefined) sb.tree.displace(standing)
  const node = sb.tree.nodes.add('file', folder, name)
  sb.tree.attach(node, folder, name)
  return node
}

function parentOf(sb: Superblock, path: string): { folder: Node; name: string } {
  return { folder: ensureFolder(sb, folderOf(path)), name: nameOf(path) }
}

function ensureFolder(sb: Superblock, path: string): Node {
  let folder = sb.tree.nodes.root
  for (const name of path.split('/')) {
    if (name === '') continue
    const child = folder.folder?.children.get(name)
    const next = child?.folder === undefined ? sb.tree.nodes.add('folder', folder, name) : child
    folder = next
  }
  return folder
}
