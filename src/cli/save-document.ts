// Downloads one document in full, taking up where a broken connection or an expired URL left it, as long as the document
// stays the same.

import { letGo } from '../api/let-go.ts'
import type { Files, RemoteFile } from '../api/types.ts'
import { DaemonError } from '../daemon/daemon-error.ts'

export interface SaveDocument {
  readonly files: Files
  readonly path: string
  readonly record: RemoteFile
  readonly signal: AbortSignal
  /** Takes the next bytes. */
  write(chunk: Uint8Array): Promise<void>
  /** Told how many more bytes are there. */
  onBytes(count: number): void
}

const mostFailuresWithoutProgress = 4

/** Writes the document from its first to its last byte. Throws ApiError, NetworkError, DaemonError. */
export async function saveDocument(save: SaveDocument): Promise<void> {
  let { record } = save
  let offset = 0
  let failures = 0
  let etag: string | undefined
  let isTold = true
  while (record.size === undefined || offset < record.size) {
    const before = offset
    try {
      if (record.url === undefined) throw new DaemonError(`the service gave no download URL for ${save.path}`)
      const { size: sizeBytes } = record
      const range = {
        offset,
        length: (sizeBytes ?? Number.MAX_SAFE_INTEGER) - offset,
        ...(sizeBytes === undefined ? {} : { sizeBytes }),
      }
      const download = await save.files.download(record.url, save.path, range, { signal: save.signal })
      const isOther =
        download.totalSize !== undefined && download.totalSize !== (sizeBytes ?? download.totalSize)
      if (isOther || (etag !== undefined && download.etag !== etag)) {
        await letGo(download)
        throw changed(save.path)
      }
      etag = download.etag
      isTold = download.totalSize !== undefined || etag !== undefined
      for await (const chunk of download.chunks) {
        await save.write(chunk)
        offset += chunk.length
        save.onBytes(chunk.length)
      }
      if (record.size === undefined) return
      if (offset === before)
        throw new DaemonError(`${save.path} ended after ${offset} of ${record.size} bytes`)
    } catch (error) {
      failures = offset > before ? 1 : failures + 1
      // Without a size or ETag, the rest may be of another content than the bytes so far.
      if (offset > 0 && !isTold) throw error
      if (save.signal.aborted || !isWorthAnotherUrl(error) || failures > mostFailuresWithoutProgress)
        throw error
      record = await renew(save)
    }
  }
}

/** The connection broke, or the URL's 15 minutes are over. */
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

async function renew({ files, path, record, signal }: SaveDocument): Promise<RemoteFile> {
  const fresh = await files.get(path, { signal })
  if (fresh.kind !== 'file' || fresh.size !== record.size || fresh.modifiedAt !== record.modifiedAt)
    throw changed(path)
  return fresh
}

function changed(path: string): DaemonError {
  return new DaemonError(`${path} was changed while it was downloaded; run the same command again`, {
    isTemporary: true,
  })
}
