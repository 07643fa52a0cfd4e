// Downloads a document to a local file, which appears under its name once it is complete, with the document's time.

import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { folderError } from './local-folder.ts'
import { type DocumentDownload, downloadDocument } from './download-document.ts'
import type { RemoteFile } from '../api/types.ts'
import { CommandError } from './command-error.ts'

let partCount = 0

/**
 * Downloads to a temporary file, and renames it to `local`. A file that exists is replaced, with the same mode; of a symbolic link,
 * the file it leads to. Throws CommandError if `local` is a folder, device or pipe, and what `downloadDocument` throws.
 */
export async function downloadToFile(from: Omit<DocumentDownload, 'write'>, local: string): Promise<void> {
  const target = await realpath(local).catch(() => local)
  const before = await stat(target).catch(() => undefined)
  if (before !== undefined && !before.isFile())
    throw new CommandError(
      `${local} is ${before.isDirectory() ? 'a folder' : 'no regular file'}; choose another name${before.isDirectory() ? '' : ', or - for standard output'}`,
    )
  // Not made from the document's name, which may have the greatest length already.
  const part = join(dirname(target), `.docmount-${process.pid}-${++partCount}.part`)
  // Until it gets the mode of the file it replaces, only this user may read it.
  const file = await open(part, 'wx', before === undefined ? 0o666 : 0o600).catch((error: unknown) => {
    throw folderError(target, error)
  })
  try {
    await downloadDocument({
      ...from,
      async write(chunk) {
        for (let written = 0; written < chunk.length;) {
          written += (await file.write(chunk, written)).bytesWritten
        }
      },
    })
    if (before !== undefined) await file.chmod(before.mode & 0o777)
    const modifiedMs = Date.parse(from.record.modifiedAt ?? '')
    if (!Number.isNaN(modifiedMs)) await file.utimes(new Date(), new Date(modifiedMs))
    await file.close()
    await rename(part, target)
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  }
}

/** True if the file has the document's size and time, as after `downloadToFile`. The service gives nothing else to compare. */
export async function isDownloaded({ size, modifiedAt }: RemoteFile, target: string): Promise<boolean> {
  const stats = await stat(target).catch(() => undefined)
  if (stats === undefined || !stats.isFile()) return false
  return stats.size === size && Math.floor(stats.mtimeMs + 0.001) === Date.parse(modifiedAt ?? '')
}
