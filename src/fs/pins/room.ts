// Whether something fits: within its bound, and on the disk.

import { statfs } from 'node:fs/promises'
import type { NoRoom } from './pin-status.ts'

/** Undefined where it fits. */
export async function noRoomFor(
  { documents, needBytes }: { documents: number; needBytes: number },
  room: { bound: 'pin-size' | 'cache-size'; sizeBytes: number; freeBytes: number; dir: string },
): Promise<NoRoom | undefined> {
  const { bound, sizeBytes, freeBytes } = room
  if (needBytes > freeBytes) return { documents, needBytes, freeBytes, sizeBytes, bound }
  const disk = await statfs(room.dir)
  const diskFreeBytes = disk.bavail * disk.bsize
  if (needBytes <= diskFreeBytes) return undefined
  return {
    documents,
    needBytes,
    freeBytes: diskFreeBytes,
    sizeBytes: disk.blocks * disk.bsize,
    bound: 'disk',
  }
}
