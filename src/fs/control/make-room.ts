// Frees disk space for unsent content: first from the disk cache, then from the undo store, because only unsent content cannot be
// fetched again.

import type { Reader } from '../../content/read/reader.ts'
import type { UndoStore } from '../../content/undo/undo-store.ts'
import type { Disk } from '../../world/disk.ts'

/** Bytes freed at once: enough for many writes, while most of the cache stays. */
const freedBytes = 64 * 1024 * 1024

export interface MakeRoomParts {
  readonly reader: Pick<Reader, 'disk'>
  readonly undo: Pick<UndoStore, 'giveUp' | 'bytes'>
  readonly disk: Disk
  readonly settings: { readonly stateDir: string; readonly cacheDir: string }
}

/** Returns false if nothing could be freed. A cache on another disk is left as it is. */
export async function makeRoom(parts: MakeRoomParts): Promise<boolean> {
  if (isOneDisk(parts) && (await parts.reader.disk.giveUp(freedBytes)) > 0) return true
  return (await parts.undo.giveUp(freedBytes)) > 0
}

/** Returns the bytes that `makeRoom` could free in total. */
export function givableBytes(parts: MakeRoomParts): number {
  return (isOneDisk(parts) ? parts.reader.disk.givableBytes : 0) + parts.undo.bytes
}

function isOneDisk({ disk, settings: { stateDir, cacheDir } }: MakeRoomParts): boolean {
  try {
    return disk.statSync(stateDir).dev === disk.statSync(cacheDir).dev
  } catch {
    return false
  }
}
