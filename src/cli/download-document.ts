// Downloads one document in full. After a broken connection or an expired URL it continues where it was, as long as the document
// has not changed.

import { discardDownload } from '../api/discard-download.ts'
import type { Files, RemoteFile } from '../api/types.ts'
import { CommandError } from './command-error.ts'

export interface DocumentDownload {
  readonly files: Files
  readonly path: string
  readonly record: RemoteFile
  readonly signal: AbortSignal
  /** Called with the document's bytes, in order. */
  write(chunk: Uint8Array): Promise<void>
  /** Called with the number of bytes after each `write`. */
  onBytes(count: number): void
}

const mostFailuresWithoutProgress = 4

/** Throws ApiError, NetworkError, errors of `write`, and a temporary CommandError if the document changes meanwhile. */
export async function downloadDocument(download: DocumentDownload): Promise<void> {
  const { files, path, signal } = download
  let { record } = download
  let offset = 0
  let failures = 0
  let etag: string | undefined
  let canCompare = true
  while (record.size === undefined || offset < record.size) {
    const before = offset
    try {
      if (record.url === undefined) throw new CommandError(`the service gave no download URL for ${path}`)
      const { size: sizeBytes } = record
      const range = {
        offset,
        length: (sizeBytes ?? Number.MAX_SAFE_INTEGER) - offset,
        ...(sizeBytes === undefined ? {} : { sizeBytes }),
      }
      const response = await files.download(record.url, path, range, { signal })
      const isOther =
        response.totalSize !== undefined && response.totalSize !== (sizeBytes ?? response.totalSize)
      if (isOther || (etag !== undefined && response.etag !== etag)) {
        await discardDownload(response)
        throw changedError(path)
      }
      etag = response.etag
      canCompare = response.totalSize !== undefined || etag !== undefined
      for await (const chunk of response.chunks) {
        await download.write(chunk)
        offset += chunk.length
        download.onBytes(chunk.length)
      }
      if (record.size === undefined) return
      if (offset === before) throw new CommandError(`${path} ended after ${offset} of ${record.size} bytes`)
    } catch (error) {
      failures = offset > before ? 1 : failures + 1
      // Without a size or ETag to compare, the rest could be of another version than the bytes so far.
      if (offset > 0 && !canCompare) throw error
      if (signal.aborted || !isWorthAnotherUrl(error) || failures > mostFailuresWithoutProgress) throw error
      record = await fetchFreshRecord(download)
    }
  }
}

/** True for a broken connection, and if the URL may have expired, which it does after 15 minutes. */
function isWorthAnotherUrl(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'NetworkError') return (error as { kind?: unknown }).kind !== 'protocol'
  const { status } = error as { status?: unknown }
  return (
    error.name === 'ApiError' &&
    typeof status === 'number' &&
    (status >= 500 || [401, 403, 404, 410, 429].includes(status))
  )
}

async function fetchFreshRecord({ files, path, record, signal }: DocumentDownload): Promise<RemoteFile> {
  const fresh = await files.get(path, { signal })
  if (fresh.kind !== 'file' || fresh.size !== record.size || fresh.modifiedAt !== record.modifiedAt)
    throw changedError(path)
  return fresh
}

function changedError(path: string): CommandError {
  return new CommandError(`${path} was changed while it was downloaded; run the same command again`, {
    isTemporary: true,
  })
}
