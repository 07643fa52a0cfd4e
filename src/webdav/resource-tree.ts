// A resource with everything in it, listed before it is changed.

import type { Resource, PathWalk } from './path-walk.ts'

export interface ResourceTree {
  readonly resource: Resource
  /** All children, also temporary documents that are hidden from clients. */
  readonly children: readonly ResourceTree[]
}

/** Throws ETIMEDOUT if the service is away and a folder was never listed. */
export async function treeOf(walk: PathWalk, resource: Resource): Promise<ResourceTree> {
  const children: ResourceTree[] = []
  if (resource.attributes.kind === 'folder')
    for (const child of await walk.children(resource, true)) children.push(await treeOf(walk, child))
  return { resource, children }
}
