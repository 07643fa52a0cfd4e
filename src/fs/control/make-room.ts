// Room for what is unsent, from what is only cached: where both are on one disk, content that the service has not got comes first.

import type { Reader } from '../../content/read/reader.ts'
import type { Disk } from '../../world/disk.ts'

/** 64 MiB: a full disk is met once for many writes, and most of the cache stays. */
const givenBytes = 64 * 1024 * 1024

export interface MakeRoomParts {
  readonly reader: Pick<Reader, 'disk'>
  readonly disk: Disk
  readonly settings: { readonly stateDir: string; readonly cacheDir: string }
}

/** Answers false where there was nothing to give, or the cache is on another disk. */
export async function makeRoom(parts: MakeRoomParts): Promise<boolean> {
  return isOneDisk(parts) && (await parts.reader.disk.giveUp(givenBytes)) > 0
}

/** Bytes that the disk cache can give. */
export function givableBytes(parts: MakeRoomParts): number {
  return isOneDisk(parts) ? parts.reader.disk.givableBytes : 0
}

function isOneDisk({ disk, settings: { stateDir, cacheDir } }: MakeRoomParts): boolean {
  try {
    return disk.statSync(stateDir).dev === disk.statSync(cacheDir).dev
  } catch {
    return false
  }
}
