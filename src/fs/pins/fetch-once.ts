// `docmount fetch`: brings the documents at and under a path into the disk cache, once; they stay there as long as there is
// space.

import type { Disk } from '../../world/disk.ts'
import { diskBytesOf } from '../../content/disk/disk-bytes.ts'
import { isKeepable } from '../../content/read/fetch-whole.ts'
import { fetchDocuments, type FetchSources } from './fetch-documents.ts'
import type { FetchAnswer, FetchProgress } from './pin-status.ts'
import type { PinStore } from './pin-store.ts'
import { noRoomFor } from './room.ts'
import { survey, type FoundDocument } from './survey.ts'

export interface FetchOnceOptions extends FetchSources {
  readonly store: PinStore
  readonly cacheDir: string
  readonly disk: Disk
}

/** Throws ENOENT if nothing has this name, the signal's reason, and the error of listing the path. */
export async function fetchOnce(
  options: FetchOnceOptions,
  path: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress?: (progress: FetchProgress) => void },
): Promise<FetchAnswer> {
  const { tree, reader, store, cacheDir, disk } = options
  const found = await survey(tree, path, signal)
  const missing: FoundDocument[] = []
  let [bytes, bytesHere, cacheBytes, missingBytes] = [0, 0, 0, 0]
  for (const document of found.documents) {
    const { version } = document
    const mayBeKept = version !== undefined && isKeepable(version)
    const here = mayBeKept ? await reader.disk.bytesInPlace(version, version.size) : 0
    bytes += document.bytes
    bytesHere += version === undefined ? document.bytes : here
    // A pinned document takes no space in the cache: pins have a folder of their own.
    if (mayBeKept && store.pinOf(version.path) === undefined) {
      cacheBytes += diskBytesOf(document.bytes)
      missingBytes += document.bytes - here
    }
    if (version !== undefined && (!mayBeKept || here < version.size)) missing.push(document)
  }
  const { cacheSizeBytes } = await reader.disk.amount()
  // Other cached documents give way: only the bound itself and the disk limit a fetch.
  const noRoom =
    cacheBytes > cacheSizeBytes
      ? { documents: found.documents.length, needBytes: cacheBytes, freeBytes: cacheSizeBytes, sizeBytes: cacheSizeBytes, bound: 'cache-size' as const } // prettier-ignore
      : await noRoomFor(
          { documents: missing.length, needBytes: missingBytes },
          { bound: 'cache-size', sizeBytes: cacheSizeBytes, freeBytes: Infinity, dir: cacheDir, disk },
        )
  if (noRoom !== undefined) return { kind: 'no-room', ...noRoom }
  const problems = [...found.problems]
  let [fetchedDocuments, fetchedBytes] = [0, 0]
  await fetchDocuments(options, missing, {
    signal,
    onKept: (_document, kept) => onProgress?.({ bytes, bytesHere: (bytesHere += kept) }),
    onFetched: (fetched) => {
      fetchedBytes += fetched.fetchedBytes
      if (fetched.problem === undefined) fetchedDocuments++
      else problems.push(fetched.problem)
    },
  })
  return {
    kind: 'fetched',
    documents: found.documents.length,
    bytes,
    fetchedDocuments,
    fetchedBytes,
    problems,
  }
}
