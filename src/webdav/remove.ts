// Removes a resource with everything in it, as `rm -r` does: failures are collected, the rest is removed. The whole tree is
// listed first: if a folder cannot be listed now, nothing is removed.

import { pathOf } from './names.ts'
import type { Door } from './exchange.ts'
import { treeOf, type ResourceTree } from './resource-tree.ts'
import type { Resource, PathWalk } from './path-walk.ts'
import { isAtOrUnder } from '../path.ts'

export interface Failure {
  readonly resource: Resource
  readonly error: unknown
}

/** Resolves with the resources that could not be removed; their parent folders stay, too. Throws errors of listing. */
export async function removeTree(
  walk: PathWalk,
  door: Door,
  resource: Resource,
): Promise<readonly Failure[]> {
  const path = pathOf(resource.names)
  // Open handles would keep removed documents alive.
  await door.pendingPuts.closeMatching((begun) => isAtOrUnder(begun, path))
  const { parent, name } = await walk.placeOf(resource.names)
  const tree = await treeOf(walk, resource)
  const failures = await remove(walk, tree, parent.attributes.ino, name)
  if (failures.length > 0) return failures
  door.locks.removeBelow(path)
  await door.properties.remove(path)
  return []
}

async function remove(
  walk: PathWalk,
  { resource, children }: ResourceTree,
  parent: number,
  name: string,
): Promise<readonly Failure[]> {
  const { operations, changeCaller } = walk
  const { ino, kind } = resource.attributes
  const failures: Failure[] = []
  if (kind === 'folder') {
    for (const child of children)
      failures.push(...(await remove(walk, child, ino, child.resource.names.at(-1) ?? '')))
    if (failures.length > 0) return failures
  }
  try {
    if (kind === 'folder') await operations.rmdir(parent, name, changeCaller)
    else await operations.unlink(parent, name, changeCaller)
  } catch (error) {
    return [{ resource, error }]
  }
  return []
}
