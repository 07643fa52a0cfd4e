// Changes that an earlier run left unsent, put back into the tree: one intention, one node. Changes that the service agreed to in
// the last moments of that run, too: a listing may not show them yet.

import type { RemoteFile } from '../../api/types.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Job } from '../../content/commit/job.ts'
import { fingerprintOf, modifiedAtIn, versionOf, type Version } from '../../content/fingerprint.ts'
import type { Intention } from '../../content/intention.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { Change } from '../../content/spool/saved-listings.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { Log } from '../../log.ts'
import { folderOf, foldersAbove, nameOf, pathBelow } from '../../path.ts'
import type { AttributeStore } from '../tree/attribute-store.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import { discardContent, takeContent, type DiscardParts, type TakeContentParts } from './content.ts'
import type { Owners } from './owners.ts'

export interface RestoreParts extends TakeContentParts {
  readonly journal: Journal
  readonly spool: Spool
  readonly owners: Owners
  readonly attributes: AttributeStore
  readonly log: Log
}

/** Makes the tree show the document as this job leaves it, or hide the path that it empties. */
export function restore(parts: RestoreParts, job: Job): void {
  const { intention } = job
  const { folder, name } = parentOf(parts.tree, intention.path)
  if (intention.kind !== 'put') {
    // The service has refused it, so the document still shows.
    if (intention.isRefused) return
    const standing = folder.folder?.children.get(name)
    if (standing?.folder !== undefined) folderLeft(parts.tree, standing)
    else if (standing !== undefined) moveOut(parts, folder, standing)
    parts.tree.synced.touch(intention.path, intention.base)
    return
  }
  if (intention.spool !== undefined && !parts.spool.has(intention.spool)) return restoreEmpty(parts, job)
  const node = place(parts, intention.path)
  node.unsent.mayReplace(intention.base)
  if (intention.spool !== undefined) restoreContent(parts, node, intention.spool)
  if (intention.digest !== undefined) node.content?.knowDigest(intention.digest)
  parts.owners.restore(node, job)
  restoreSource(parts, node, intention)
  parts.attributes.applyToUnsent(node)
}

/** For a job whose content is missing in the spool. If the service has no version either, shows a document that cannot be read. */
function restoreEmpty(parts: RestoreParts, job: Job): void {
  const { path, base, source, size } = job.intention
  // The service has a version, at the path or at the move's source: listings show it.
  if (base !== undefined || source !== undefined) return
  const node = place(parts, path)
  parts.owners.restore(node, job)
  showStored(parts.tree, node, { path, fingerprint: '', size })
}

function restoreSource(parts: RestoreParts, node: Node, intention: Intention): void {
  const { source } = intention
  if (source === undefined || source === intention.path) return
  const { folder, name } = parentOf(parts.tree, source)
  // A document at the source was still being sent there when it was renamed: it arrives there first, and is then moved.
  const standing = folder.folder?.children.get(name)
  if (intention.spool === undefined) {
    showStored(parts.tree, node, whereItIs(intention, source, standing))
  }
  if (intention.keepSource === true) return
  if (standing !== undefined && standing.folder === undefined) {
    parts.owners.handOver(standing, node)
    moveOut(parts, folder, standing)
  }
  parts.tree.synced.touch(source, intention.sourceFingerprint)
}

/** Returns where the service has the bytes of a move, and which version that is. `standing`: the document at the source. */
function whereItIs(intention: Intention, source: string, standing: Node | undefined): Version {
  const { size } = intention
  // After the copy the bytes are at the new path, and may be gone from the old one.
  const { path, fingerprint } = intention.isCopied
    ? { path: intention.path, fingerprint: intention.base }
    : (standing?.version ?? { path: source, fingerprint: intention.sourceFingerprint })
  if (fingerprint === undefined) return { path, fingerprint: '', size }
  // The journaled size is that of the version to be moved. If another client's is there, the size in its fingerprint counts.
  const version = versionOf(path, fingerprint)
  return { ...version, size: version.size ?? size }
}

/**
 * The service agreed to this change at `at` (ms): until listings have caught up with it, the document or folder shows, and one that
 * went does not. Names that something unsent decides stay as they are.
 */
export function restoreAgreed(
  parts: RestoreParts & { readonly queue: Pick<CommitQueue, 'isOfFormerFolder'> },
  { folder, name, record, agreed }: Change,
  at: number,
): void {
  const { tree, queue } = parts
  const path = pathBelow(folder, name)
  if (tree.synced.at(path) !== undefined) return
  if (record === undefined) return tree.synced.stands(path, agreed?.highest, at)
  const standing = tree.find(path)
  const isUnderDocument = foldersAbove(path).some((above) => tree.find(above)?.kind === 'file')
  const isOther = isUnderDocument || (standing !== undefined && standing.kind !== record.kind)
  if (isOther || queue.isOfFormerFolder(path)) return
  tree.synced.stands(path, record.kind === 'file' ? fingerprintOf(record) : undefined, at)
  if (record.kind === 'folder') tree.places.keep(ensureFolder(tree, path))
  else if (standing === undefined) tree.versions.show(place(parts, path), record, 0)
}

/** Removes the document from its place, and the folders that were kept for it alone; a listing may show them again. */
function moveOut(parts: RestoreParts, from: Node, document: Node): void {
  displace(parts, document)
  for (let folder: Node = from; folder.parent !== undefined; folder = folder.parent) {
    if (folder.folder === undefined || folder.folder.isMadeHere || folder.folder.kept.size > 0) return
    parts.tree.places.unkeep(folder)
  }
}

/** Takes the document's name away. Its row in the journal keeps the content for as long as that is needed. */
function displace(parts: DiscardParts, document: Node): void {
  parts.tree.places.displace(document)
  discardContent(parts, document)
  parts.tree.nodes.dropIfUnused(document)
}

/** The folder is gone: what is hidden in it is hidden in one that is made there anew. One in which something is shown stays. */
function folderLeft(tree: Tree, folder: Node): void {
  if (folder.folder !== undefined && folder.folder.kept.size > 0) return
  tree.places.displace(folder)
  tree.nodes.dropIfUnused(folder)
}

/** The node shows this spool file; where that is missing, what it showed. */
export function restoreContent(parts: RestoreParts, node: Node, spool: string): void {
  try {
    const file = parts.spool.get(spool)
    takeContent(parts, node, file)
    file.idle()
  } catch (error) {
    parts.log.error(
      { path: node.path, spool, error: String(error) },
      'the spooled content of this document is missing',
    )
  }
}

/** Makes the node show a version of which only the fingerprint is known, which contains size and time. */
export function showStored(tree: Tree, node: Node, version: Version): void {
  const record: RemoteFile = {
    kind: 'file',
    name: node.name,
    size: version.size,
    mimetype: undefined,
    modifiedAt: modifiedAtIn(version.fingerprint),
    url: undefined,
  }
  tree.versions.showAt(node, version.path, record, 0)
}

/** Returns a new document node at a path, with the folders above it, in the place of one that an older row put there. */
export function place(parts: DiscardParts, path: string): Node {
  const { tree } = parts
  const { folder, name } = parentOf(tree, path)
  const standing = folder.folder?.children.get(name)
  if (standing !== undefined && standing.folder === undefined) displace(parts, standing)
  const node = tree.nodes.add('file', folder, name)
  tree.places.attach(node, folder, name)
  return node
}

function parentOf(tree: Tree, path: string): { folder: Node; name: string } {
  return { folder: ensureFolder(tree, folderOf(path)), name: nameOf(path) }
}

/** Returns the folder at a path; makes it, and those above it, where they are missing. */
export function ensureFolder(tree: Tree, path: string): Node {
  let folder = tree.nodes.root
  for (const name of path.split('/')) {
    if (name === '') continue
    const child = folder.folder?.children.get(name)
    if (child?.folder === undefined) {
      folder = tree.nodes.add('folder', folder, name)
      tree.places.came(folder)
    } else folder = child
  }
  return folder
}
