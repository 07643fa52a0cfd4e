// LOOKUP of "." and "..": the kernel asks by number for a node that it has forgotten, to resolve a file handle
// (open_by_handle_at, a re-export by NFS).

import { ErrnoError } from '../../errno-error.ts'
import type { Node } from '../tree/node.ts'
import type { Caller, Entry } from '../operations.ts'
import type { Tree } from '../tree/tree.ts'
import { entryOf, noteShown, withListing, type EntryParts } from './lookup.ts'

export async function lookupByNumber(
  parts: EntryParts,
  ino: number,
  name: '.' | '..',
  caller: Caller,
): Promise<Entry> {
  const itself = await nodeByNumber(parts.tree, ino, caller)
  const node = name === '.' ? itself : (itself.parent ?? itself)
  node.door.remember()
  noteShown(parts.tree, node, caller)
  return entryOf(parts, node)
}

/** Returns the node of this number. Throws ESTALE unless it is still at its last known path. */
async function nodeByNumber(tree: Tree, ino: number, caller: Caller): Promise<Node> {
  const path = tree.nodes.find(ino)?.path ?? tree.former.pathOf(ino)
  let node: Node | undefined = path === undefined ? undefined : tree.nodes.root
  for (const name of path?.split('/') ?? []) {
    if (name === '') continue
    const above: Node | undefined = node
    if (above?.folder === undefined) break
    node = await withListing(tree, above, caller, (listing) => tree.child(above, name, listing))
  }
  if (node?.ino !== ino) throw new ErrnoError('ESTALE', `node ${ino} is not where it was`)
  return node
}
