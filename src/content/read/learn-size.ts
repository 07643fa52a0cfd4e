// Learns the size of a document whose record lacks it: from the answer to a request for its first byte, or, where that
// lacks it, too, by counting all bytes.

import type { Range } from '../../api/types.ts'
import { cancelledBy } from './cancellation.ts'
import { attemptDownload } from './download-attempts.ts'
import type { DownloadSources } from './download-attempts.ts'
import type { Version } from '../fingerprint.ts'

const firstByte: Range = { offset: 0, length: 1 }
const everything: Range = { offset: 0, length: Number.MAX_SAFE_INTEGER }

/** Returns the size in bytes. Throws ESTALE, EIO, ApiError, NetworkError, the signal's reason. */
export function learnSize(sources: DownloadSources, version: Version, signal: AbortSignal): Promise<number> {
  const { files } = sources
  const { path } = version
  return cancelledBy(signal, (cancellation) =>
    attemptDownload(
      sources,
      () => version,
      cancellation,
      async (url, { signal, progressed }) => {
        const { totalSize, chunks } = await files.download(url, path, firstByte, { signal })
        const bytes = await count(chunks, progressed)
        if (totalSize !== undefined || bytes === 0) return totalSize ?? 0
        const whole = await files.download(url, path, everything, { signal })
        return count(whole.chunks, progressed)
      },
    ),
  )
}

async function count(chunks: AsyncIterable<Uint8Array>, progressed: () => void): Promise<number> {
  let bytes = 0
  for await (const chunk of chunks) {
    progressed()
    bytes += chunk.length
  }
  return bytes
}
