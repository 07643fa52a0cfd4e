// Room for documents to be pinned or fetched: within its bound, and on the disk.

import type { Disk } from '../../world/disk.ts'
import type { NoRoom } from './pin-status.ts'

/** Undefined where it fits. */
export async function noRoomFor(
  { documents, needBytes }: { documents: number; needBytes: number },
  room: { bound: 'pin-size' | 'cache-size'; sizeBytes: number; freeBytes: number; dir: string; disk: Disk },
): Promise<NoRoom | undefined> {
  const { bound, sizeBytes, freeBytes } = room
  if (needBytes > freeBytes) return { documents, needBytes, freeBytes, sizeBytes, bound }
  const { bavail, bsize, blocks } = await room.disk.statfs(room.dir)
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
