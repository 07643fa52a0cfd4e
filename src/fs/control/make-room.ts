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
export async function makeRoom({ reader, disk, settings }: MakeRoomParts): Promise<boolean> {
  const { stateDir, cacheDir } = settings
  const [state, cache] = await Promise.all(
    [stateDir, cacheDir].map((folder) => disk.stat(folder).catch(() => undefined)),
  )
  if (state === undefined || state.dev !== cache?.dev) return false
  return (await reader.disk.giveUp(givenBytes)) > 0
}
