// One local document into the service, in place of the old one where that was asked for.

import { ApiError } from '../api/errors.ts'
import type { Files, Upload } from '../api/types.ts'
import { isWorthRetrying } from '../content/commit/backoff.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { deleteSeen } from './delete-seen.ts'
import { holdFormer } from './former-document.ts'
import { type LocalDocument, mimetypeFor, openLocal, watched } from './local-document.ts'
import { nameOf } from '../path.ts'

export interface PutDocument {
  readonly files: Files
  readonly local: string
  /** Where it goes. */
  readonly path: string
  readonly mimetype: string | undefined
  readonly mayReplace: boolean
  readonly signal: AbortSignal
  /** Told how many more bytes went out; less than nothing where they must be sent again. */
  onBytes(count: number): void
  /** Told the size once it is known. */
  onSize?(bytes: number): void
}

/**
 * Throws ApiError, NetworkError, ContentError, UsageError for a type the service does not take, DaemonError that says where
 * the content is when the old document is gone and the new one not there, or that the file was changed meanwhile.
 */
export async function putDocument(put: PutDocument): Promise<void> {
  const { path, signal } = put
  const filename = nameOf(path)
  const document = await openLocal(put.local, signal)
  let isOnlyCopy = false
  const tellGone = (isGone: boolean): void => void (isOnlyCopy = isGone)
  try {
    put.onSize?.(document.content.size)
    const mimetype = await mimetypeFor(put.mimetype, filename, document)
    const content = watched(document.content, (count) => put.onBytes(count))
    await upload(put, { mimetype, filename, content }, tellGone)
    await document.checkUnchanged()
  } catch (error) {
    throw isOnlyCopy ? keptError(path, document, error) : error
  } finally {
    if (!isOnlyCopy) await document.discard()
  }
}

async function upload(
  { files, path, mayReplace, signal }: PutDocument,
  document: Upload,
  tellGone: (isGone: boolean) => void,
): Promise<void> {
  try {
    await files.upload(path, document, { signal })
    return
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    if (!mayReplace) {
      if (await isFolder(files, path, signal))
        throw new DaemonError(`${path} is a folder; ${path}/ takes the document in under its own name`)
      // The service's own advice is to delete the other first.
      throw new ApiError(error, 409, 'a document exists there; --replace puts this one in its place')
    }
  }
  // Deleting a folder would take everything in it along.
  const found = await files.get(path, { signal })
  if (found.kind === 'folder') throw new DaemonError(`${path} is a folder; a document cannot replace it`)
  await using former = await holdFormer(files, path, found, signal)
  await deleteSeen(files, path, found, signal)
  tellGone(true)
  try {
    await files.upload(path, document, { signal })
  } catch (error) {
    if (!(error instanceof ApiError) || isWorthRetrying(error) || former === undefined) throw error
    const isBack = await former.putBack().then(
      () => true,
      () => false,
    )
    if (!isBack) throw error
    tellGone(false)
    throw new ApiError(error, error.status, `${error.errorMessage}; what stood there is put back`)
  }
  tellGone(false)
}

async function isFolder(files: Files, path: string, signal: AbortSignal): Promise<boolean> {
  const found = await files.get(path, { signal }).catch(() => undefined)
  return found?.kind === 'folder'
}

function keptError(path: string, document: LocalDocument, error: unknown): DaemonError {
  const reason = error instanceof Error ? error.message : String(error)
  return new DaemonError(
    `the old ${path} is deleted, and the new one could not be sent: ${reason}; it is kept in ${document.file}`,
    { cause: error, isTemporary: true },
  )
}
