// A local file or standard input as the content of an upload.

import { type Stats, createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { mimetypeOfContent } from '../api/mimetype-of-content.ts'
import { isTypeDecidedByContent, mimetypeOfName } from '../api/mimetype-of.ts'
import { isMimetype, mimetypes } from '../api/mimetypes.ts'
import type { Mimetype } from '../api/mimetypes.ts'
import type { BytesContent } from '../api/types.ts'
import { CommandError } from './command-error.ts'
import { UsageError } from './usage-error.ts'

export interface LocalDocument {
  readonly file: string
  readonly content: BytesContent
  /** Throws CommandError if the file has changed since it was opened. */
  checkUnchanged(): Promise<void>
  /** Removes the temporary copy of standard input; never a file of the user's. */
  removeTemporary(): Promise<void>
}

/** Bytes per read: as many as the upload encodes at once, so that the count of read bytes is not ahead of what was sent. */
const readBytes = 96 * 1024

/**
 * Opens a local file. For `-`, copies stdin to a temporary file first, because the size must be known before the upload. Throws
 * CommandError if there is no such file, or it is not a regular one.
 */
export async function openLocal(local: string, signal: AbortSignal): Promise<LocalDocument> {
  if (local !== '-') {
    const { content, stats } = await contentOf(local)
    const checkUnchanged = (): Promise<void> => checkSameFile(local, stats)
    return { file: local, content, checkUnchanged, removeTemporary: () => Promise.resolve() }
  }
  const folder = await mkdtemp(join(tmpdir(), 'docmount-put-'))
  const removeTemporary = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const file = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }), { signal })
    const { content } = await contentOf(file)
    return { file, content, checkUnchanged: () => Promise.resolve(), removeTemporary }
  } catch (error) {
    await removeTemporary()
    throw error
  }
}

/** Throws CommandError if there is no such file, or it is not a regular one. */
export async function statLocal(file: string): Promise<Stats> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new CommandError(`there is no file ${file}`, { cause: error }) : error
  })
  if (!stats.isFile()) {
    throw new CommandError(`${file} is no regular file; use - to send what a program writes`)
  }
  return stats
}

async function contentOf(file: string): Promise<{ content: BytesContent; stats: Stats }> {
  const stats = await statLocal(file)
  const content: BytesContent = {
    kind: 'bytes',
    size: stats.size,
    open: (signal) => createReadStream(file, { signal, highWaterMark: readBytes }),
  }
  return { content, stats }
}

/** A file that was deleted meanwhile passes: its open stream was sent unchanged. */
async function checkSameFile(file: string, before: Stats): Promise<void> {
  const now = await stat(file).catch(() => before)
  if (now.ino === before.ino && now.size === before.size && now.mtimeMs === before.mtimeMs) return
  throw new CommandError(
    `${file} was changed while it was sent: what is stored may be no state of it; --replace sends it again`,
    { isTemporary: true },
  )
}

/** Wraps content so that `onRead` gets the bytes of each read. If it is read again from the start, a negative count comes first. */
export function countingReads(content: BytesContent, onRead: (count: number) => void): BytesContent {
  let counted = 0
  return {
    ...content,
    async *open(signal) {
      onRead(-counted)
      counted = 0
      for await (const chunk of content.open(signal)) {
        yield chunk
        counted += chunk.length
        onRead(chunk.length)
      }
    },
  }
}

/** Returns the value of `--mimetype`. Throws UsageError if the service does not take this type. */
export function parseMimetype(asked: string): Mimetype {
  if (isMimetype(asked)) return asked
  throw new UsageError(`--mimetype must be one of ${mimetypes.join(', ')}`)
}

/**
 * Returns the `asked` type, else the type by the extension of `name`, then of the local file, else by the content. Throws
 * UsageError if the service does not take the type.
 */
export async function mimetypeFor(
  asked: string | undefined,
  name: string,
  document: LocalDocument,
): Promise<Mimetype> {
  if (asked !== undefined) return parseMimetype(asked)
  const found = mimetypeOfName(name)
  if (found !== undefined) return found
  if (isTypeDecidedByContent(name)) {
    const mimetype = mimetypeOfName(basename(document.file)) ?? (await mimetypeOfFile(document.file))
    if (mimetype !== undefined) return mimetype
  }
  const { kindOfUnsupported } = await import('../api/unsupported-kind.ts')
  const kind = kindOfUnsupported(name)
  throw new UsageError(`${name}: the service does not take ${kind}; --mimetype sends it as another type`)
}

async function mimetypeOfFile(file: string): Promise<Mimetype | undefined> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const read = async (offset: number, length: number): Promise<Uint8Array> => {
      const buffer = Buffer.alloc(Math.min(length, Math.max(0, size - offset)))
      const { bytesRead } = await handle.read({ buffer, position: offset })
      return buffer.subarray(0, bytesRead)
    }
    return await mimetypeOfContent({ size, read })
  } finally {
    await handle.close()
  }
}
