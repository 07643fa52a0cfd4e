// Names to nodes, nodes to attributes.

import { ErrnoError } from '../../errno-error.ts'
import { abortable } from '../../abortable.ts'
import { attributesOf } from '../tree/attributes.ts'
import { withKnownSize } from './known-size.ts'
import type { Listing } from '../tree/listings.ts'
import { nameMaxBytes } from '../tree/names.ts'
import type { Node } from '../tree/node.ts'
import { isKept } from '../tree/node-table.ts'
import type { Caller, Entry, MaybePromise, NegativeEntry } from '../operations.ts'
import type { Superblock } from '../superblock.ts'

/** Applies `use` to the folder's listing: at once where it is fresh. */
export function withListing<T>(
  sb: Superblock,
  folder: Node,
  caller: Caller,
  use: (listing: Listing) => MaybePromise<T>,
): MaybePromise<T> {
  const listing = sb.tree.listing(folder)
  return listing instanceof Promise ? abortable(listing, caller.signal).then(use) : use(listing)
}

/** A node with how long the door may keep it. */
export function entryOf(sb: Superblock, node: Node): Entry {
  const ttlMs = ttlOf(sb, node)
  return { attributes: attributesOf(node, sb.owner), entryTtlMs: ttlMs, attributeTtlMs: ttlMs }
}

/** What is true only here stays true until we say otherwise; the rest as long as the listing it came from. */
function ttlOf(sb: Superblock, node: Node): number {
  if (node.parent === undefined) return sb.settings.cacheTtlMs
  if (isKept(node)) return sb.settings.cacheTtlMs
  const listing = sb.tree.listings.known(node.parent)
  return listing === undefined ? 0 : sb.tree.listings.doorTtlMs(listing)
}

export function lookup(
  sb: Superblock,
  parent: number,
  name: string,
  caller: Caller,
): MaybePromise<Entry | NegativeEntry> {
  if (Buffer.byteLength(name) > nameMaxBytes)
    throw new ErrnoError('ENAMETOOLONG', `names are at most ${nameMaxBytes} bytes long`)
  const folder = sb.tree.nodes.getFolder(parent)
  const here = sb.tree.keptChild(folder, name)
  if (here !== undefined && sb.files.reach.isAway) {
    here.door.remember()
    return entryOf(sb, here)
  }
  return withListing(sb, folder, caller, (listing) => {
    const node = sb.tree.child(folder, name, listing)
    if (node === undefined) return { attributes: undefined, entryTtlMs: sb.tree.listings.doorTtlMs(listing) }
    return withKnownSize(sb, node, caller, () => {
      node.door.remember()
      return entryOf(sb, node)
    })
  })
}

/** The child of this name; throws ENOENT. */
export function childOf(sb: Superblock, folder: Node, name: string, listing: Listing): Node {
  const node = sb.tree.child(folder, name, listing)
  if (node === undefined) throw new ErrnoError('ENOENT', `${folder.path}: no ${name} here`)
  return node
}

export function getattr(
  sb: Superblock,
  ino: number,
  fh: number | undefined,
  caller: Caller,
): MaybePromise<Entry> {
  const node = sb.tree.nodes.get(ino)
  const { parent } = node
  // The root always is; what is open, unlinked or local does not depend on a listing.
  if (parent === undefined || node.isUnlinked) return entryOf(sb, node)
  if (fh !== undefined || isKept(node)) return withKnownSize(sb, node, caller, () => entryOf(sb, node))
  return withListing(sb, parent, caller, () => {
    if (node.isUnlinked && node.door.openHandles === 0)
      throw new ErrnoError('ENOENT', `${node.path} is gone from the service`)
    return withKnownSize(sb, node, caller, () => entryOf(sb, node))
  })
}
