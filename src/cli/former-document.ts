// The document that `put --replace` takes the place of: kept here until the new one is in the service, and put back where the
// service refuses that after the old one is deleted. For everybody else it would be gone.

import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMimetype } from '../api/mimetypes.ts'
import type { Files, RemoteFile, Upload } from '../api/types.ts'
import { nameOf } from '../path.ts'
import { saveDocument } from './save-document.ts'

export interface FormerDocument {
  /** Throws ApiError, also where somebody else was faster (409), and NetworkError. */
  putBack(): Promise<void>
  /** Its copy here goes. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Brings it here. Undefined where there is no room, or its content or type is not to be had: it is replaced all the same. */
export async function holdFormer(
  files: Files,
  path: string,
  record: RemoteFile,
  signal: AbortSignal,
): Promise<FormerDocument | undefined> {
  const { mimetype, size } = record
  if (mimetype === undefined || !isMimetype(mimetype)) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'docmount-former-'))
  const discard = (): Promise<void> => rm(folder, { recursive: true, force: true })
  const file = join(folder, 'document')
  try {
    const bytes = await saveInto(file, { files, path, record, signal })
    if (size !== undefined && bytes !== size) throw new Error(`${path} has ${size} bytes, and ${bytes} came`)
    const content = { kind: 'bytes', size: bytes, open: () => createReadStream(file) } as const
    const upload: Upload = { mimetype, filename: nameOf(path), content }
    return {
      putBack: async () => void (await files.upload(path, upload, { signal })),
      [Symbol.asyncDispose]: discard,
    }
  } catch (error) {
    await discard()
    if (signal.aborted) throw error
    return undefined
  }
}

async function saveInto(
  file: string,
  from: { files: Files; path: string; record: RemoteFile; signal: AbortSignal },
): Promise<number> {
  await using handle = await open(file, 'wx', 0o600)
  let bytes = 0
  await saveDocument({
    ...from,
    write: (chunk) => handle.appendFile(chunk),
    onBytes: (count) => {
      bytes += count
    },
  })
  return bytes
}
