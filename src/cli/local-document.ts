// A local file, or what comes through stdin, as content of an upload.

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
import { DaemonError } from '../daemon/daemon-error.ts'
import { UsageError } from './usage-error.ts'

export interface LocalDocument {
  readonly file: string
  readonly content: BytesContent
  /** Throws DaemonError where it is another one than when it was opened. */
  checkUnchanged(): Promise<void>
  /** Deletes what was made for it. Keep it instead where it is the only copy. */
  discard(): Promise<void>
}

/** As the upload encodes them, so that what was read is what was sent. */
const readBytes = 96 * 1024

/** Opens a local file, or for `-` takes stdin down into a temporary file: its size must be known before the upload. */
export async function openLocal(local: string, signal: AbortSignal): Promise<LocalDocument> {
  if (local !== '-') {
    const { content, stats } = await contentOf(local)
    const checkUnchanged = (): Promise<void> => checkStill(local, stats)
    return { file: local, content, checkUnchanged, discard: () => Promise.resolve() }
  }
  const folder = await mkdtemp(join(tmpdir(), 'docmount-put-'))
  const discard = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const file = join(folder, 'stdin')
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }), { signal })
    const { content } = await contentOf(file)
    return { file, content, checkUnchanged: () => Promise.resolve(), discard }
  } catch (error) {
    await discard()
    throw error
  }
}

async function contentOf(file: string): Promise<{ content: BytesContent; stats: Stats }> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new DaemonError(`there is no file ${file}`, { cause: error }) : error
  })
  if (!stats.isFile()) {
    throw new DaemonError(`${file} is no regular file; use - to send what a program writes`)
  }
  const content: BytesContent = {
    kind: 'bytes',
    size: stats.size,
    open: (signal) => createReadStream(file, { signal, highWaterMark: readBytes }),
  }
  return { content, stats }
}

/** One that has gone since was sent as it was. */
async function checkStill(file: string, before: Stats): Promise<void> {
  const now = await stat(file).catch(() => before)
  if (now.ino === before.ino && now.size === before.size && now.mtimeMs === before.mtimeMs) return
  throw new DaemonError(
    `${file} was changed while it was sent: what is stored may be no state of it; --replace sends it again`,
    { isTemporary: true },
  )
}

/** The same content, telling of every byte read; read anew, the bytes told so far are taken back first. */
export function watched(content: BytesContent, onRead: (count: number) => void): BytesContent {
  let told = 0
  return {
    ...content,
    async *open(signal) {
      onRead(-told)
      told = 0
      for await (const chunk of content.open(signal)) {
        yield chunk
        told += chunk.length
        onRead(chunk.length)
      }
    },
  }
}

/** Throws UsageError for what is none of the service's types. */
export function checkedMimetype(asked: string): Mimetype {
  if (isMimetype(asked)) return asked
  throw new UsageError(`--mimetype must be one of ${mimetypes.join(', ')}`)
}

/**
 * The user's choice, else the type of the names, else of the content. Throws UsageError where the service takes no
 * such type.
 */
export async function mimetypeFor(
  asked: string | undefined,
  name: string,
  document: LocalDocument,
): Promise<Mimetype> {
  if (asked !== undefined) return checkedMimetype(asked)
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
