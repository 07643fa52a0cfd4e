// A folder's whole listing at once: libfuse keeps it per open folder and hands it out in pieces.

import type { DirectoryEntry, Operations } from '../../fs/operations.ts'
import { isHiddenName } from './hidden-files.ts'
import type { NativeRequest } from './request.ts'
import { listingStat, type NativeStat } from './stat.ts'

export interface Listing {
  readonly names: string[]
  /** As long as `names`, or the binding drops it; with it `find` needs no getattr to tell files from folders. */
  readonly stats: NativeStat[]
}

export async function readListing(
  operations: Operations,
  ino: number,
  request: NativeRequest,
): Promise<Listing> {
  // The kernel resolves `..` itself; the number beside it is only shown.
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
