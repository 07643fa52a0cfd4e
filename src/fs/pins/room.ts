// Check for disk space for documents to be pinned or fetched: within their bound, and on the disk.

import type { Disk } from '../../world/disk.ts'
import type { NoRoom } from './pin-status.ts'

/** Returns the bound that the documents exceed; undefined if they fit. */
export async function noRoomFor(
  { documents, needBytes }: { documents: number; needBytes: number },
  limits: { bound: 'pin-size' | 'cache-size'; sizeBytes: number; freeBytes: number; dir: string; disk: Disk },
): Promise<NoRoom | undefined> {
  const { bound, sizeBytes, freeBytes } = limits
  if (needBytes > freeBytes) return { documents, needBytes, freeBytes, sizeBytes, bound }
  const { bavail, bsize, blocks } = await limits.disk.statfs(limits.dir)
  const diskFreeBytes = bavail * bsize
  if (needBytes <= diskFreeBytes) return undefined
  return {
    documents,
    needBytes,
    freeBytes: diskFreeBytes,
    sizeBytes: blocks * bsize,
    bound: 'disk',
  }
}
