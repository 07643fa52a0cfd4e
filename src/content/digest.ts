// Digests, which tell one content from another when sizes and times cannot: the answer to a lost answer.

import { createHash } from 'node:crypto'
import { NetworkError } from '../api/errors.ts'
import { discardDownload } from '../api/discard-download.ts'
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

/** With this one, each once. */
export function withDigest(known: readonly Digest[], digest: Digest): readonly Digest[] {
  return known.some((each) => isSameDigest(each, digest)) ? known : [...known, digest]
}

/** The digest of content that is written from its start on, without reading it again. */
export class RunningDigest {
  readonly #hash = createHash('sha256')
  #size = 0
  #isInOrder = true

  /** These bytes are being written at `offset`. */
  add(offset: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#isInOrder &&= offset === this.#size
    if (!this.#isInOrder) return
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  /** Something else happened to the content: its digest has to be read. */
  lose(): void {
    this.#isInOrder = false
  }

  /** Of all that was written; undefined where that was not in order, or is not `size` bytes. */
  at(size: number): Digest | undefined {
    if (!this.#isInOrder || size !== this.#size) return undefined
    return { size, sha256: this.#hash.copy().digest('hex') }
  }
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

/**
 * The same chunks, the last one only when all of them together are what the digest says: a body of known length that
 * lacks its end is never stored. Throws what `mismatch` makes of it; `onEnd` is told as by `digested`.
 */
export async function* checked(
  chunks: AsyncIterable<Uint8Array>,
  expected: Digest,
  mismatch: (found: Digest) => Error,
  onEnd: (digest: Digest) => void,
): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256')
  let size = 0
  let last: Uint8Array | undefined
  for await (const chunk of chunks) {
    if (last !== undefined) yield last
    hash.update(chunk)
    size += chunk.length
    last = chunk
    if (size > expected.size) break
  }
  const found = { size, sha256: hash.digest('hex') }
  if (!isSameDigest(found, expected)) throw mismatch(found)
  if (last !== undefined) yield last
  onEnd(found)
}

/** The same chunks up to `count` bytes. */
export async function* firstBytes(
  chunks: AsyncIterable<Uint8Array>,
  count: number,
): AsyncIterable<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    if (left <= 0) return
    yield chunk.subarray(0, left)
    left -= chunk.length
  }
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

export function digestOfBytes(bytes: Uint8Array): Digest {
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** The digest of what the service holds: downloads it. Throws EIO where the record has no URL, and as `storedBytes`. */
export async function digestOfStored(
  files: Files,
  path: string,
  { url, size }: RemoteFile,
  signal: AbortSignal,
): Promise<Digest> {
  if (url === undefined)
    throw new ErrnoError('EIO', `${path}: the service gave no download URL to compare with`)
  if (size === 0) return digestOf([])
  if (size !== undefined) return digestOf(await storedBytes(files, path, { url, size }, signal))
  // Where neither the record nor the download tells the size, the end of the body is the end.
  const everything = { offset: 0, length: Number.MAX_SAFE_INTEGER }
  return digestOf((await files.download(url, path, everything, { signal })).chunks)
}

/**
 * All bytes of a document whose size the record told. An answer of another length (another document's, or a gateway's
 * page) decides nothing: NetworkError "protocol".
 */
export async function storedBytes(
  files: Files,
  path: string,
  { url, size }: { readonly url: string; readonly size: number },
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const range = { offset: 0, length: size, sizeBytes: size }
  const download = await files.download(url, path, range, { signal })
  const { totalSize = size } = download
  if (totalSize === size) return download.chunks
  await discardDownload(download)
  const detail = `the answer has ${totalSize} bytes, the document ${size}`
  throw new NetworkError({ method: 'GET', path }, 'protocol', detail)
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
