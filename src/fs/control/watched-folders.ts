// Reads of the tree for folders that programs watch (inotify). They do not count as accesses of a program: a program may replace
// only versions that it has seen.

import type { Reach } from '../../content/reach/reach.ts'
import type { Attributes } from '../operations.ts'
import { attributesOf, type Owner } from '../tree/attributes.ts'
import type { Tree } from '../tree/tree.ts'

export function folderAt(tree: Tree, ino: number): { ino: number; path: string } | undefined {
  const node = tree.nodes.find(ino)
  const folder = node?.folder === undefined ? node?.parent : node
  return folder === undefined || folder.isUnlinked ? undefined : { ino: folder.ino, path: folder.path }
}

export function peek({ tree, owner }: { tree: Tree; owner: Owner }, ino: number): Attributes | undefined {
  const node = tree.nodes.find(ino)
  return node === undefined ? undefined : attributesOf(node, owner)
}

export function peekName(
  { tree, owner }: { tree: Tree; owner: Owner },
  ino: number,
  name: string,
): Attributes | undefined {
  const folder = tree.nodes.find(ino)
  const listing = folder === undefined ? undefined : tree.listings.known(folder)
  if (folder === undefined || listing === undefined) return undefined
  const node = tree.child(folder, name, listing)
  return node === undefined ? undefined : attributesOf(node, owner)
}

/** Lists the folder anew; the tree reports changes to the watcher. A listing that fails is repeated at the next interval. */
export async function listAnew({ tree, reach }: { tree: Tree; reach: Reach }, ino: number): Promise<void> {
  const folder = tree.nodes.find(ino)
  if (folder?.folder === undefined || folder.isUnlinked || reach.isAway) return
  await tree.loadFresh(folder).catch(() => {})
}
