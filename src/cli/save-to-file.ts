// A document as a local file: it appears when all of it is there, with the document's time.

import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unwritable } from './local-folder.ts'
import { type SaveDocument, saveDocument } from './save-document.ts'
import type { RemoteFile } from '../api/types.ts'
import { DaemonError } from '../daemon/daemon-error.ts'

let parts = 0

/**
 * A file that exists is replaced, and its mode kept, behind a link where the name is one; one that cannot be written whole leaves nothing. Throws
 * DaemonError for a device or a pipe, which would be replaced by a file, and what `saveDocument` does.
 */
export async function saveToFile(save: Omit<SaveDocument, 'write'>, local: string): Promise<void> {
  const target = await realpath(local).catch(() => local)
  const before = await stat(target).catch(() => undefined)
  if (before !== undefined && !before.isFile())
    throw new DaemonError(
      `${local} is ${before.isDirectory() ? 'a folder' : 'no regular file'}; choose another name${before.isDirectory() ? '' : ', or - for standard output'}`,
    )
  // A name of its own, short: the document's may be as long as names can be.
  const part = join(dirname(target), `.docmount-${process.pid}-${++parts}.part`)
  // Until it has the mode of what it replaces it is nobody else's to read.
  const file = await open(part, 'wx', before === undefined ? 0o666 : 0o600).catch((error: unknown) => {
    throw unwritable(target, error)
  })
  try {
    await saveDocument({
      ...save,
      async write(chunk) {
        for (let written = 0; written < chunk.length;) {
          written += (await file.write(chunk, written)).bytesWritten
        }
      },
    })
    if (before !== undefined) await file.chmod(before.mode & 0o777)
    const modifiedMs = Date.parse(save.record.modifiedAt ?? '')
    if (!Number.isNaN(modifiedMs)) await file.utimes(new Date(), new Date(modifiedMs))
    await file.close()
    await rename(part, target)
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  }
}

/** As many bytes, and the document's time, which a file keeps that was fetched whole: all that the service tells. */
export async function isFetched({ size, modifiedAt }: RemoteFile, target: string): Promise<boolean> {
  const stats = await stat(target).catch(() => undefined)
  if (stats === undefined || !stats.isFile()) return false
  return stats.size === size && Math.floor(stats.mtimeMs + 0.001) === Date.parse(modifiedAt ?? '')
}
