// A local copy of the document that `put --replace` replaces. The old document has to be deleted before the new one can be
// uploaded; if the service then refuses the new one, the copy is uploaded again.

import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMimetype } from '../api/mimetypes.ts'
import type { Files, RemoteFile, Upload } from '../api/types.ts'
import { nameOf } from '../path.ts'
import { downloadDocument } from './download-document.ts'

export interface ReplacedDocument {
  /** Uploads the copy. Throws NetworkError and ApiError: 409 if another client has stored a document there meanwhile. */
  putBack(): Promise<void>
  /** Removes the copy. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Downloads the document. Returns undefined if that fails, or its type could not be uploaded again: there is no copy then. */
export async function copyReplaced(
  files: Files,
  path: string,
  record: RemoteFile,
  signal: AbortSignal,
): Promise<ReplacedDocument | undefined> {
  const { mimetype, size } = record
  if (mimetype === undefined || !isMimetype(mimetype)) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'docmount-former-'))
  const removeCopy = (): Promise<void> => rm(folder, { recursive: true, force: true })
  const file = join(folder, 'document')
  try {
    const bytes = await downloadInto(file, { files, path, record, signal })
    if (size !== undefined && bytes !== size)
      throw new Error(`${path} has ${size} bytes, and ${bytes} were received`)
    const content = { kind: 'bytes', size: bytes, open: () => createReadStream(file) } as const
    const upload: Upload = { mimetype, filename: nameOf(path), content }
    return {
      putBack: async () => void (await files.upload(path, upload, { signal })),
      [Symbol.asyncDispose]: removeCopy,
    }
  } catch (error) {
    await removeCopy()
    if (signal.aborted) throw error
    return undefined
  }
}

async function downloadInto(
  file: string,
  from: { files: Files; path: string; record: RemoteFile; signal: AbortSignal },
): Promise<number> {
  await using handle = await open(file, 'wx', 0o600)
  let bytes = 0
  await downloadDocument({
    ...from,
    write: (chunk) => handle.appendFile(chunk),
    onBytes: (count) => {
      bytes += count
    },
  })
  return bytes
}
