// `docmount cache`: amounts in the disk cache, and clearing it. Unsent content is never in it.

import type { Reader } from '../../content/read/reader.ts'
import type { CacheStatus } from './pin-status.ts'

export async function cacheStatus(reader: Reader, dir: string): Promise<CacheStatus> {
  const { cached, pinned, cacheSizeBytes, pinSizeBytes } = await reader.disk.amount()
  return {
    dir,
    cachedDocuments: cached.documents,
    cachedBytes: cached.bytes,
    cacheSizeBytes,
    pinnedDocuments: pinned.documents,
    pinnedBytes: pinned.bytes,
    pinSizeBytes,
  }
}

/** Clears the cache on disk and in memory; pinned documents only if `withPinned`. Returns the status before. */
export async function clearCache(
  reader: Reader,
  dir: string,
  options: { withPinned: boolean },
): Promise<CacheStatus> {
  const before = await cacheStatus(reader, dir)
  await reader.disk.clear(options)
  reader.forgetMemory()
  return before
}
