// What tells one content from another when sizes and times cannot: the answer to a lost answer.

import { createHash } from 'node:crypto'
import type { Files, RemoteFile } from '../api/types.ts'
import { ErrnoError } from '../errno-error.ts'

export interface Digest {
  /** Bytes. */
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
}

export function isSameDigest(one: Digest, other: Digest): boolean {
  return one.size === other.size && one.sha256 === other.sha256
}

/** The same chunks; `onEnd` is told their digest once all were taken, and never otherwise. */
export async function* digested(
  chunks: AsyncIterable<Uint8Array>,
  onEnd: (digest: Digest) => void,
): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    size += chunk.length
    yield chunk
  }
  onEnd({ size, sha256: hash.digest('hex') })
}

export async function digestOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Digest> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}

/** The digest of what the service holds: downloads it. Throws EIO where the record has no URL. */
export async function digestOfStored(
  files: Files,
  path: string,
  { url, size }: RemoteFile,
  signal: AbortSignal,
): Promise<Digest> {
  if (url === undefined)
    throw new ErrnoError('EIO', `${path}: the service gave no download URL to compare with`)
  const total = size ?? (await files.download(url, path, { offset: 0, length: 1 }, { signal })).totalSize ?? 0
  if (total === 0) return digestOf([])
  return digestOf((await files.download(url, path, { offset: 0, length: total }, { signal })).chunks)
}

/** True when two documents in the service hold the same bytes. */
export async function areSameDocuments(
  files: Files,
  one: { path: string; file: RemoteFile },
  other: { path: string; file: RemoteFile },
  signal: AbortSignal,
): Promise<boolean> {
  if (one.file.size !== other.file.size) return false
  const [oneDigest, otherDigest] = await Promise.all([
    digestOfStored(files, one.path, one.file, signal),
    digestOfStored(files, other.path, other.file, signal),
  ])
  return isSameDigest(oneDigest, otherDigest)
}
