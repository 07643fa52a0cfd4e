// Removing a resource with everything in it, as `rm -r` does: what cannot be removed is named, the rest is gone. All of it
// is listed first: where some of it cannot be looked into now, nothing is removed.

import { pathOf } from './names.ts'
import type { Door } from './exchange.ts'
import { treeOf, type ResourceTree } from './resource-tree.ts'
import type { Resource, PathWalk } from './path-walk.ts'
import { isAtOrUnder } from '../path.ts'

export interface Failure {
  readonly resource: Resource
  readonly error: unknown
}

/** Empties first, then removes. Throws what listing throws. Answers what stayed; the folders above it stay too and are not named. */
export async function removeTree(
  walk: PathWalk,
  door: Door,
  resource: Resource,
): Promise<readonly Failure[]> {
  const path = pathOf(resource.names)
  // Their handles would keep what is removed.
  await door.pendingPuts.endBelow((begun) => isAtOrUnder(begun, path))
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
  const { operations, lasting } = walk
  const { ino, kind } = resource.attributes
  const failures: Failure[] = []
  if (kind === 'folder') {
    for (const child of children)
      failures.push(...(await remove(walk, child, ino, child.resource.names.at(-1) ?? '')))
    if (failures.length > 0) return failures
  }
  try {
    if (kind === 'folder') await operations.rmdir(parent, name, lasting)
    else await operations.unlink(parent, name, lasting)
  } catch (error) {
    return [{ resource, error }]
  }
  return []
}
