// A resource with everything in it, known before anything is done to it.

import type { Resource, PathWalk } from './path-walk.ts'

export interface ResourceTree {
  readonly resource: Resource
  /** In the folder's order; also what no client is shown. */
  readonly children: readonly ResourceTree[]
}

/** Throws ETIMEDOUT where the service is away and a folder was never listed. */
export async function treeOf(walk: PathWalk, resource: Resource): Promise<ResourceTree> {
  const children: ResourceTree[] = []
  if (resource.attributes.kind === 'folder')
    for (const child of await walk.children(resource, true)) children.push(await treeOf(walk, child))
  return { resource, children }
}
