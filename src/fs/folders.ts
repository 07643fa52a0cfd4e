// Folders: reading them, making them here, removing them without ever removing more than was asked.

import type { RemoteFile, RemoteFolder } from '../api/types.ts'
import { abortable } from '../content/abortable.ts'
import { ErrnoError } from '../content/errno-error.ts'
import { fingerprintOf, isNewer, modifiedAtIn } from '../content/fingerprint.ts'
import { waitForJob } from '../content/job.ts'
import { isUnder } from '../content/intention.ts'
import { lookUp } from '../content/remote-lookup.ts'
import { timeOfMs } from './attributes.ts'
import { FolderHandle } from './handles.ts'
import { childOf, entryOf, withListing } from './lookup.ts'
import { checkName } from './names.ts'
import type { FolderState, Node } from './node.ts'
import type { Caller, Entry, Filler, MaybePromise, OpenedFolder } from './operations.ts'
import { isScratchName } from './scratch.ts'
import type { Superblock } from './superblock.ts'

/** How long rmdir waits for the deletes under the folder: nothing but a waiting close blocks longer. */
const drainBeforeRemovalMs = 14_000
const callDeadlineMs = 14_000

export function opendir(sb: Superblock, ino: number, caller: Caller): MaybePromise<OpenedFolder> {
  const folder = sb.tree.nodes.getFolder(ino)
  return withListing(sb, folder, caller, () => {
    const state = folder.folder
    sb.walkAhead.opened(folder)
    const cacheListing = state !== undefined && state.listedGeneration === state.generation
    return { fh: sb.handles.addFolder(new FolderHandle(folder)), cacheListing }
  })
}

export function readdir(
  sb: Superblock,
  fh: number,
  cookie: number,
  filler: Filler,
  caller: Caller,
): MaybePromise<void> {
  const handle = sb.handles.folder(fh)
  const { node: folder } = handle
  return withListing(sb, folder, caller, (listing) => {
    if (cookie === 0 || handle.names === undefined) {
      handle.names = sb.tree.names(folder, listing)
      if (folder.folder !== undefined) folder.folder.listedGeneration = folder.folder.generation
    }
    for (let i = cookie; i < handle.names.length; i++) {
      const name = handle.names[i] as string
      const node = sb.tree.child(folder, name, listing)
      if (node === undefined) continue
      handle.touched.push(node)
      if (!filler({ name, ino: node.ino, kind: node.kind, entry: () => entryOf(sb, node) }, i + 1)) return
    }
  })
}

export function releasedir(sb: Superblock, fh: number): void {
  const handle = sb.handles.removeFolder(fh)
  if (handle === undefined) return
  for (const node of handle.touched) sb.tree.nodes.dropIfUnused(node)
  sb.tree.nodes.dropIfUnused(handle.node)
}

/** A local folder: the service learns of it when a file lands in it (interface: "missing parent folders are created automatically"). */
export function mkdir(
  sb: Superblock,
  parent: number,
  name: string,
  mode: number,
  caller: Caller,
): MaybePromise<Entry> {
  checkName(name)
  const above = sb.tree.nodes.getFolder(parent)
  return withListing(sb, above, caller, (listing) => {
    if (sb.tree.child(above, name, listing) !== undefined)
      throw new ErrnoError('EEXIST', `${above.path}: ${name} exists`)
    const node = sb.tree.nodes.add('folder', above, name)
    node.isScratch = above.isScratch || isScratchName(name)
    node.mode = mode & 0o7777
    node.mtime = timeOfMs(sb.now())
    makeHere(sb, node)
    sb.tree.attach(node, above, name)
    sb.tree.listings.set(node, { names: new Map(), requestedAt: sb.now() })
    node.lookups++
    return entryOf(sb, node)
  })
}

/** The folder exists here until a file lands in it or it is removed. */
export function makeHere(sb: Superblock, folder: Node): void {
  if (folder.folder === undefined || folder.folder.isMadeHere || folder.parent === undefined) return
  sb.journal.saveFolder(folder.path)
  folder.folder.isMadeHere = true
  sb.tree.keep(folder)
}

/** A folder whose last name went away here stays until rmdir, whatever the service makes of empty folders. */
export function stayThoughEmpty(sb: Superblock, folder: Node): void {
  if (sb.tree.isEmpty(folder)) makeHere(sb, folder)
}

/** Lists afresh before it deletes: the service's delete is recursive, and must never do more than rmdir means. */
export async function rmdir(sb: Superblock, parent: number, name: string, caller: Caller): Promise<void> {
  const above = sb.tree.nodes.getFolder(parent)
  const node = await withListing(sb, above, caller, (listing) => childOf(sb, above, name, listing))
  const state = node.folder
  if (state === undefined) throw new ErrnoError('ENOTDIR', `${node.path} is a document`)
  if (state.kept.size > 0 && [...state.kept].some((kept) => state.children.get(kept)?.folder === undefined))
    throw notEmpty(node)
  await drainUnder(sb, node.path, caller.signal)
  const options = { deadlineMs: callDeadlineMs, signal: caller.signal }
  const standing = node.isScratch ? undefined : await lookUp(sb.files, node.path, options)
  if (standing?.kind === 'file') throw new ErrnoError('ENOTDIR', `${node.path} is a document now`)
  if (state.kept.size > 0 || standing?.entries.some((entry) => !isLeaving(entry, state)) === true) {
    sb.tree.listings.forget(node)
    throw notEmpty(node)
  }
  if (standing !== undefined) {
    if (standing.entries.length > 0) await drainUnder(sb, node.path, caller.signal)
    await abortable(sb.files.delete(node.path, { deadlineMs: callDeadlineMs }), caller.signal)
  }
  removeFolder(sb, above, node)
}

/** Deleted here, and still shown as it was, or as it was even before: by a listing that lags behind. */
function isLeaving(entry: RemoteFile | RemoteFolder, state: FolderState): boolean {
  const tombstone = state.tombstones.get(entry.name)
  if (tombstone === undefined) return false
  const { fingerprint } = tombstone
  if (entry.kind === 'folder' || fingerprint === undefined)
    return entry.kind === 'folder' && fingerprint === undefined
  return (
    fingerprintOf(entry) === fingerprint ||
    isNewer({ modifiedAt: modifiedAtIn(fingerprint) }, fingerprintOf(entry))
  )
}

function removeFolder(sb: Superblock, above: Node, node: Node): void {
  if (node.folder?.isMadeHere === true) sb.journal.removeFolder(node.path)
  sb.tree.detach(node)
  node.isUnlinked = true
  sb.tree.listings.forget(node)
  sb.tree.bury(above, node.name, undefined)
  sb.tree.settleTombstone(above, node.name, undefined)
  stayThoughEmpty(sb, above)
  sb.tree.nodes.dropIfUnused(node)
}

/** Sends the deletes (and whatever else waits) under a folder now, and waits for them. */
async function drainUnder(sb: Superblock, path: string, signal: AbortSignal): Promise<void> {
  const until = sb.now() + drainBeforeRemovalMs
  sb.queue.expedite((intention) => intention.kind === 'delete' && isUnder(intention.path, path))
  const jobs = [...sb.queue.jobs()].filter(
    ({ intention }) =>
      isUnder(intention.path, path) || (intention.source !== undefined && isUnder(intention.source, path)),
  )
  for (const job of jobs) {
    const outcome = await waitForJob(job, { timeoutMs: Math.max(0, until - sb.now()), signal })
    if (outcome !== 'done')
      throw new ErrnoError('EBUSY', `${path}: its documents are not yet deleted in the service`)
  }
}

function notEmpty(node: Node): ErrnoError {
  return new ErrnoError('ENOTEMPTY', `${node.path} is not empty`)
}
