// Uploads one local document, with --replace in place of the one that is there.

import { ApiError } from '../api/errors.ts'
import type { Files, Upload } from '../api/types.ts'
import { isWorthRetrying } from '../content/commit/backoff.ts'
import { CommandError } from './command-error.ts'
import { deleteIfUnchanged } from './delete-if-unchanged.ts'
import { copyReplaced } from './replaced-document.ts'
import { type LocalDocument, mimetypeFor, openLocal, countingReads } from './local-document.ts'
import { nameOf } from '../path.ts'

export interface PutDocument {
  readonly files: Files
  readonly local: string
  /** Path in the project. */
  readonly path: string
  readonly mimetype: string | undefined
  readonly mayReplace: boolean
  readonly signal: AbortSignal
  /** Called with the number of bytes that were sent since the last call; negative if they must be sent again. */
  onBytes(count: number): void
  /** Called once, with the size of the document. */
  onSize?(bytes: number): void
}

/**
 * Uploads the document. Throws UsageError if the service does not take its type, CommandError if there is no such file, it
 * changed meanwhile, or `path` is a folder; ApiError, NetworkError and ContentError of the upload. If the old document is deleted
 * and the new one could not be stored, throws a CommandError that says where its content is.
 */
export async function putDocument(put: PutDocument): Promise<void> {
  const { path, signal } = put
  const filename = nameOf(path)
  const document = await openLocal(put.local, signal)
  // True while the service has neither the old document nor the new one: the copy of stdin is kept then.
  let isMissing = false
  const setMissing = (value: boolean): void => void (isMissing = value)
  try {
    put.onSize?.(document.content.size)
    const mimetype = await mimetypeFor(put.mimetype, filename, document)
    const content = countingReads(document.content, (count) => put.onBytes(count))
    await upload(put, { mimetype, filename, content }, setMissing)
    await document.checkUnchanged()
  } catch (error) {
    throw isMissing ? notReplacedError(path, document, error) : error
  } finally {
    if (!isMissing) await document.removeTemporary()
  }
}

async function upload(
  { files, path, mayReplace, signal }: PutDocument,
  document: Upload,
  setMissing: (isMissing: boolean) => void,
): Promise<void> {
  try {
    await files.upload(path, document, { signal })
    return
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    if (!mayReplace) {
      if (await isFolder(files, path, signal))
        throw new CommandError(`${path} is a folder; ${path}/ takes the document in under its own name`)
      // In place of the service's message, which advises to delete the old document first.
      throw new ApiError(error, 409, 'a document exists there; --replace puts this one in its place')
    }
  }
  // DELETE of a folder would delete everything in it.
  const found = await files.get(path, { signal })
  if (found.kind === 'folder') throw new CommandError(`${path} is a folder; a document cannot replace it`)
  await using former = await copyReplaced(files, path, found, signal)
  await deleteIfUnchanged(files, path, found, signal)
  setMissing(true)
  try {
    await files.upload(path, document, { signal })
  } catch (error) {
    // Only a refusal brings the old document back: after any other failure the new one may be there, or no upload succeeds now.
    if (!(error instanceof ApiError) || isWorthRetrying(error) || former === undefined) throw error
    const isBack = await former.putBack().then(
      () => true,
      () => false,
    )
    if (!isBack) throw error
    setMissing(false)
    throw new ApiError(error, error.status, `${error.errorMessage}; what stood there is put back`)
  }
  setMissing(false)
}

async function isFolder(files: Files, path: string, signal: AbortSignal): Promise<boolean> {
  const found = await files.get(path, { signal }).catch(() => undefined)
  return found?.kind === 'folder'
}

function notReplacedError(path: string, document: LocalDocument, error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error)
  return new CommandError(
    `the old ${path} is deleted, and the new one could not be sent: ${reason}; it is kept in ${document.file}`,
    { cause: error, isTemporary: true },
  )
}
