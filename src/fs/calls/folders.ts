// Folders: reading them, and making them here. Removing them is rmdir.ts.

import { ErrnoError } from '../../errno-error.ts'
import { timeOfMs } from '../tree/attributes.ts'
import { FolderOrder } from '../tree/folder-order.ts'
import { FolderHandle } from '../tree/handles.ts'
import { entryOf, withListing } from './lookup.ts'
import { checkName } from '../tree/names.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, Entry, Filler, MaybePromise, OpenedFolder } from '../operations.ts'
import type { Superblock } from '../superblock.ts'

export function opendir(sb: Superblock, ino: number, caller: Caller): MaybePromise<OpenedFolder> {
  const folder = sb.tree.nodes.getFolder(ino)
  return withListing(sb, folder, caller, () => {
    const state = folder.folder
    sb.walkAhead.opened(folder)
    const keepListing = state !== undefined && state.listedGeneration === state.generation
    // Nobody is anywhere in it, and the door gives up what it kept.
    if (state !== undefined && folder.door.openHandles === 0 && !keepListing) state.order = undefined
    return { fh: sb.handles.addFolder(new FolderHandle(folder)), keepListing }
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
    const state = folder.folder
    if (state === undefined) return
    const order = (state.order ??= new FolderOrder())
    if (cookie === 0 || handle.end === undefined) {
      order.take(sb.tree.names(folder, listing))
      handle.end = order.length
      state.listedGeneration = state.generation
    }
    for (let i = cookie; i < handle.end; i++) {
      const name = order.at(i) as string
      const node = sb.tree.child(folder, name, listing)
      if (node === undefined) continue
      handle.touched.push(node)
      const entry = (): Entry | undefined => (node.size === undefined ? undefined : entryOf(sb, node))
      if (!filler({ name, ino: node.ino, kind: node.kind, entry }, i + 1)) return
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
    node.times.made(mode, timeOfMs(sb.clock.wall()))
    makeHere(sb, node)
    if (node.folder !== undefined) node.folder.isOnlyHere = true
    sb.tree.attach(node, above, name)
    sb.tree.listings.set(node, { names: new Map(), requestedAt: sb.clock.steady() })
    node.door.remember()
    return entryOf(sb, node)
  })
}

/** The folder exists here until a file lands in it or it is removed. */
export function makeHere(sb: Superblock, folder: Node): void {
  if (folder.folder === undefined || folder.folder.isMadeHere || folder.parent === undefined) return
  const state = folder.folder
  sb.journal.saveFolder(folder.path)
  sb.journal.onRollback(() => (state.isMadeHere = false))
  state.isMadeHere = true
  sb.tree.keep(folder)
}

/** A folder whose last name went away here stays until rmdir, whatever the service makes of empty folders. */
export function stayThoughEmpty(sb: Superblock, folder: Node): void {
  if (sb.tree.isEmpty(folder)) makeHere(sb, folder)
}
