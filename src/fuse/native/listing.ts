// A folder's whole listing: libfuse caches it per open folder, and passes it on in pieces.

import type { DirectoryEntry, Operations } from '../../fs/operations.ts'
import { isHiddenName } from './hidden-files.ts'
import type { NativeRequest } from './request.ts'
import { listingStat, type NativeStat } from './stat.ts'

export interface Listing {
  readonly names: string[]
  /** One per name (else the binding ignores them all), so that `find` tells files from folders without a getattr. */
  readonly stats: NativeStat[]
}

export async function readListing(
  operations: Operations,
  ino: number,
  request: NativeRequest,
): Promise<Listing> {
  // Programs only see the number of `..`: the kernel resolves it itself. So it may be the folder's own.
  const names = ['.', '..']
  const stats = [listingStat(ino, 'folder'), listingStat(ino, 'folder')]
  const { fh } = await operations.opendir(ino, request)
  try {
    let last = 0
    const take = (child: DirectoryEntry, cookie: number): boolean => {
      last = cookie
      if (!isHiddenName(child.name)) {
        names.push(child.name)
        stats.push(listingStat(child.ino, child.kind))
      }
      return true
    }
    for (let from = -1; from !== last;) {
      from = last
      await operations.readdir(fh, from, take, request)
    }
  } finally {
    operations.releasedir(fh)
  }
  return { names, stats }
}
