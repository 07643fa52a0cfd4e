// Folders: reading them, and making them here. Removing them is rmdir.ts.

import { abortable } from '../../abortable.ts'
import type { NetworkError } from '../../api/errors.ts'
import { ErrnoError } from '../../errno-error.ts'
import { timeOfMs } from '../tree/attributes.ts'
import { isUnreachable, longAgo } from '../tree/folder-source.ts'
import { FolderHandle, type HandleTable } from '../tree/handles.ts'
import { checkStands, entryOf, noteShown, withListing, type EntryParts } from './lookup.ts'
import { checkFolderName } from '../tree/names.ts'
import type { PathDepth } from '../tree/path-depth.ts'
import type { Listing } from '../tree/listings.ts'
import { pathIn, type Node } from '../tree/node.ts'
import { ListedNames } from '../tree/listed-names.ts'
import type { Caller, Entry, Filler, MaybePromise, OpenedFolder } from '../operations.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { Tree } from '../tree/tree.ts'
import { isInTrash } from '../tree/trash.ts'
import type { Clock } from '../../world/clock.ts'

/** Nodes made for one reading: more of them go while it goes on. */
const mostTouched = 10_000

/** Parts that making or removing a folder here changes. */
export interface FolderParts {
  readonly tree: Tree
  readonly journal: Journal
}

export interface MkdirParts extends FolderParts, EntryParts {
  readonly pathDepth: PathDepth
  readonly clock: Clock
  /** Off: there is no trash. */
  readonly undo: { readonly isOn: boolean }
}

export interface OpenFolderParts {
  readonly tree: Tree
  readonly handles: HandleTable
  /** Guesses what comes next. */
  readonly walkAhead: { opened(folder: Node): void }
}

export interface ReadFolderParts extends EntryParts {
  readonly handles: HandleTable
}

export function opendir(parts: OpenFolderParts, ino: number, caller: Caller): MaybePromise<OpenedFolder> {
  const folder = parts.tree.nodes.getFolder(ino)
  return withWhatIsKnown(parts.tree, folder, caller, (_listing, unknown) => {
    const state = folder.folder
    if (unknown === undefined) parts.walkAhead.opened(folder)
    const keepListing = unknown === undefined && state?.isListedAsItIs === true
    // No program is reading it, and the door gives up the listing it kept.
    if (folder.door.openHandles === 0 && !keepListing) state?.forgetOrder()
    return { fh: parts.handles.addFolder(new FolderHandle(folder)), keepListing }
  })
}

/** `cookie`: a position in the order of names that all handles of the folder share, and that only grows meanwhile (`folder-order.ts`). */
export function readdir(
  parts: ReadFolderParts,
  fh: number,
  cookie: number,
  filler: Filler,
  caller: Caller,
): MaybePromise<void> {
  const handle = parts.handles.folder(fh)
  const { node: folder } = handle
  return withWhatIsKnown(parts.tree, folder, caller, (listing, unknown) => {
    const state = folder.folder
    if (state === undefined) return
    const { order } = state
    if (cookie === 0 || handle.end === undefined) {
      order.take(parts.tree.names(folder, listing))
      // The service may answer before the last name: all others follow then.
      handle.end = unknown === undefined ? order.length : undefined
      if (unknown === undefined) state.markListed()
    }
    const end = handle.end ?? order.length
    // After the last name that is known: whoever lists hears that it is not all.
    if (unknown !== undefined && cookie >= end) throw unknown
    const ttlMs = parts.tree.listings.doorTtlMs(listing)
    if (handle.touched.length > mostTouched) dropTouched(parts.tree, handle)
    for (let i = cookie; i < end; i++) {
      const name = order.at(i) as string
      const node = parts.tree.child(folder, name, listing)
      if (node === undefined) continue
      handle.touched.push(node.ino)
      const entry = (): Entry | undefined =>
        node.size === undefined ? undefined : entryOf(parts, node, ttlMs)
      if (!filler({ name, ino: node.ino, kind: node.kind, entry }, i + 1)) return
      noteShown(parts.tree, node, caller)
    }
  })
}

/**
 * As `withListing`; where the service is away and the folder's listing nowhere, with the names that are kept here, and the error
 * that stands for the others.
 */
function withWhatIsKnown<T>(
  tree: Tree,
  folder: Node,
  caller: Caller,
  use: (listing: Listing, unknown: NetworkError | undefined) => T,
): MaybePromise<T> {
  const listing = tree.listing(folder)
  if (!(listing instanceof Promise)) return use(listing, undefined)
  return abortable(listing, caller.signal).then(
    (told) => use(told, undefined),
    (error: unknown) => {
      if (!isUnreachable(error) || (folder.folder?.kept.size ?? 0) === 0) throw error
      return use({ names: new ListedNames(), requestedAt: longAgo }, error)
    },
  )
}

export function releasedir({ tree, handles }: Pick<ReadFolderParts, 'tree' | 'handles'>, fh: number): void {
  const handle = handles.removeFolder(fh)
  if (handle === undefined) return
  dropTouched(tree, handle)
  tree.nodes.dropIfUnused(handle.node)
}

/** Nodes that the door took no reference on are dropped: each gets the same number when it is looked up again. */
function dropTouched({ nodes }: Tree, handle: FolderHandle): void {
  for (const ino of handle.touched) nodes.forget(ino, 0)
  handle.touched = []
}

/** A local folder: the service learns of it when a file lands in it (interface: "missing parent folders are created automatically"). */
export function mkdir(
  parts: MkdirParts,
  parent: number,
  name: string,
  mode: number,
  caller: Caller,
): MaybePromise<Entry> {
  const above = parts.tree.nodes.getFolder(parent)
  checkFolderName(pathIn(above, name), parts.undo.isOn)
  return withListing(parts.tree, above, caller, (listing) => {
    checkStands(above)
    if (parts.tree.child(above, name, listing) !== undefined)
      throw new ErrnoError('EEXIST', `${above.path}: ${name} exists`)
    if (!isInTrash(above.path)) parts.pathDepth.check(above.path, name)
    const node = parts.journal.transaction(() => {
      const made = parts.tree.nodes.add('folder', above, name)
      makeHere(parts, made)
      return made
    })
    node.times.made(mode, timeOfMs(parts.clock.wall()))
    // The service cannot have it, either: until something in it is handed in, removing and renaming it asks nothing.
    node.folder?.makeOnlyHere()
    parts.tree.places.attach(node, above, name)
    parts.tree.places.came(node)
    parts.tree.listings.set(node, { names: new ListedNames(), requestedAt: parts.clock.steady() })
    node.door.remember()
    return entryOf(parts, node)
  })
}

/** The folder exists here, whatever listings say, until a file lands in it or it is removed. The service may have one, too. */
function makeHere(parts: FolderParts, folder: Node): void {
  if (folder.folder === undefined || folder.folder.isMadeHere || folder.parent === undefined) return
  parts.journal.folders.save(folder.path)
  folder.folder.makeHere()
  parts.tree.places.keep(folder)
}

/** A folder whose last name went away here stays until rmdir, whatever the service makes of empty folders. */
export function stayThoughEmpty(parts: FolderParts, folder: Node): void {
  if (parts.tree.isEmpty(folder, isNeverSaved)) makeHere(parts, folder)
}

/** The service has never heard of it, and a kill may take it along: the folder that it is in stays. */
function isNeverSaved({ folder, job, remote }: Node): boolean {
  return folder === undefined && job === undefined && remote === undefined
}
