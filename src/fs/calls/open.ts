// open, create, release.

import { ErrnoError } from '../../errno-error.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { Clock } from '../../world/clock.ts'
import type { Caller, CreateOptions, Entry, MaybePromise, Opened, OpenFlags } from '../operations.ts'
import type { PathDepth } from '../tree/path-depth.ts'
import type { RefusedNames } from '../attention/refused-names.ts'
import { timeOfMs } from '../tree/attributes.ts'
import { beginSaveOver } from '../tree/begin-save.ts'
import { FileHandle, type HandleTable } from '../tree/handles.ts'
import { checkName } from '../tree/names.ts'
import type { Node } from '../tree/node.ts'
import { beginsHere, finalName, isMadeAsTemporary, isUndecidedName } from '../tree/scratch.ts'
import { isInTrash } from '../tree/trash.ts'
import { mimetypeOfName } from '../../api/mimetype-of.ts'
import type { Tree } from '../tree/tree.ts'
import { takeContent, type TakeContentParts } from '../unsent/content.ts'
import type { LocalOnly } from '../unsent/local-only.ts'
import type { SubmitParts } from '../unsent/submit.ts'
import { truncateContent, type TruncateParts } from '../unsent/writing.ts'
import {
  checkHasContent,
  checkStands,
  entryOf,
  isStill,
  noteShown,
  withListing,
  type EntryParts,
} from './lookup.ts'
import type { Sizes } from './sizes.ts'

interface OpenedParts {
  readonly tree: Tree
  readonly handles: HandleTable
}

export interface OpenParts extends OpenedParts, TruncateParts {
  readonly sizes: Sizes
}

interface MakeParts extends TakeContentParts {
  readonly clock: Clock
  readonly spool: Spool
  readonly localOnly: LocalOnly
  readonly refusedNames: RefusedNames
  readonly pathDepth: PathDepth
}

export interface CreateParts extends OpenParts, MakeParts, EntryParts {}

/** Opening for writing changes nothing yet; O_TRUNC downloads nothing. */
export function open(parts: OpenParts, ino: number, flags: OpenFlags, caller: Caller): MaybePromise<Opened> {
  const node = parts.tree.nodes.get(ino)
  if (node.folder !== undefined) throw new ErrnoError('EISDIR', `${node.path} is a folder`)
  checkHasContent(node, flags.write)
  if (node.size === undefined && !flags.truncate) return openUnsized(parts, node, flags, caller)
  if (!flags.truncate) return opened(parts, node, flags, caller)
  return truncateContent(parts, node, 0, caller, node.door.contentGeneration).then(() =>
    opened(parts, node, flags, caller),
  )
}

async function openUnsized(parts: OpenParts, node: Node, flags: OpenFlags, caller: Caller): Promise<Opened> {
  /** True where the name stands for another document now, or for none: the answer was not for it. */
  const hasLeft = (): boolean => node.isUnlinked && node.door.openHandles === 0
  try {
    await parts.sizes.whenKnown(node, caller, () => undefined)
    if (node.size === undefined) await parts.sizes.learn(node, caller)
  } catch (error) {
    if (!hasLeft()) throw error
  }
  if (hasLeft()) throw new ErrnoError('ESTALE', `${node.path} was replaced or removed meanwhile`)
  return open(parts, node.ino, flags, caller)
}

function opened(parts: OpenedParts, node: Node, flags: OpenFlags, caller: Caller): Opened {
  const keepCache = node.door.showContent() && mayKeepPages(parts.tree, node, flags, caller)
  const directIo = node.content === undefined && node.remote !== undefined && node.remote.size === undefined
  const fh = parts.handles.addFile(new FileHandle(node, flags, keepCache))
  return { fh, keepCache, directIo, hasNothingToFlush: !flags.write }
}

/**
 * From pages that the door keeps a program reads without asking. A program that opens to read alone is taken to have read them.
 * For one that opens to write, too, pages are kept only if it is known to know the version: otherwise its reads have to come here.
 */
function mayKeepPages(tree: Tree, node: Node, { read, write, truncate }: OpenFlags, caller: Caller): boolean {
  const { shown } = node
  if (!read || truncate || shown === undefined) return true
  if (write) return tree.seen.replaceable(node.path, caller, shown) === shown
  tree.seen.read(node.path, shown, caller)
  return true
}

export function create(
  parts: CreateParts,
  parent: number,
  name: string,
  options: CreateOptions,
  caller: Caller,
): MaybePromise<{ entry: Entry; opened: Opened }> {
  checkName(name)
  const folder = parts.tree.nodes.getFolder(parent)
  return withListing(parts.tree, folder, caller, (listing) => {
    checkStands(folder)
    const existing = parts.tree.child(folder, name, listing)
    if (existing !== undefined) {
      if (options.exclusive) throw new ErrnoError('EEXIST', `${existing.path} exists`)
      return Promise.resolve(open(parts, existing.ino, options.flags, caller)).then((result) => {
        existing.door.remember()
        noteShown(parts.tree, existing, caller)
        const entry = entryOf(parts, existing)
        // Renamed meanwhile: no door goes on taking it for what has this name.
        const isThere = isStill(existing, folder, name)
        return { entry: isThere ? entry : { ...entry, entryTtlMs: 0 }, opened: result }
      })
    }
    const isBeside = (other: string): boolean => parts.tree.child(folder, other, listing) !== undefined
    const node = make(parts, folder, name, { ...options, isBeside }, caller)
    node.door.remember()
    return { entry: entryOf(parts, node), opened: opened(parts, node, options.flags, caller) }
  })
}

/**
 * A new, empty, local document. Throws EOPNOTSUPP for a type the service does not take, ENAMETOOLONG for a path that is too deep
 * for it: now, not after the copy.
 */
function make(
  parts: MakeParts,
  folder: Node,
  name: string,
  { isBeside, ...options }: CreateOptions & { readonly isBeside: (name: string) => boolean },
  caller: Caller,
): Node {
  const isTrash = isInTrash(folder.path)
  if (!isTrash) parts.pathDepth.check(folder.path, name)
  const { mode, flags } = options
  const hidden = parts.tree.synced.in(folder).get(name)
  const isLikeTemporary = isMadeAsTemporary({ ...options, readWrite: flags.read && flags.write })
  // By the mode alone a document that tells its type is none.
  const isTemporary = isLikeTemporary && (options.isGuess !== true || mimetypeOfName(name) === undefined)
  // A name under which the service has, had or gets something stands for a document, whatever the name.
  const isLocalOnly = isTrash || (hidden === undefined && beginsHere(name, isTemporary, isBeside))
  if (!isTrash)
    parts.refusedNames.check(folder.path, isTemporary && isUndecidedName(name) ? finalName(name) : name)
  const content = parts.spool.create(name)
  const node = parts.tree.nodes.add('file', folder, name)
  if (isLocalOnly) node.local.markLocalOnly({ isMadeTemporary: isTemporary, isCutOff: false })
  beginSaveOver(parts.tree.seen, node, hidden?.highest, caller)
  node.times.made(mode, timeOfMs(parts.clock.wall()))
  takeContent(parts, node, content)
  parts.tree.places.attach(node, folder, name)
  if (isLocalOnly) parts.localOnly.changed(node)
  return node
}

export async function release(parts: Pick<OpenedParts, 'handles'> & SubmitParts, fh: number): Promise<void> {
  const handle = parts.handles.removeFile(fh)
  if (handle !== undefined) await parts.saves.released(handle.node)
}
