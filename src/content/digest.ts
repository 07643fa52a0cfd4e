// Content digests (size and SHA-256). They tell one content from another where sizes and times cannot, for example when the
// answer to an upload was lost.

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

/** Returns the known digests with this one added, unless it is among them. */
export function withDigest(known: readonly Digest[], digest: Digest): readonly Digest[] {
  return known.some((each) => isSameDigest(each, digest)) ? known : [...known, digest]
}

/** Computes the digest of content while it is written from start to end, so that it need not be read again. */
export class RunningDigest {
  readonly #hash = createHash('sha256')
  #size = 0
  #isInOrder = true

  /** Includes bytes that are being written at `offset`. */
  add(offset: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#isInOrder &&= offset === this.#size
    if (!this.#isInOrder) return
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  /** Gives up, after a change of the content that `add` does not see: the digest has to be computed by reading it. */
  lose(): void {
    this.#isInOrder = false
  }

  /** Returns the digest of all bytes written; undefined where they were not written in order, or are not `size` bytes. */
  at(size: number): Digest | undefined {
    if (!this.#isInOrder || size !== this.#size) return undefined
    return { size, sha256: this.#hash.copy().digest('hex') }
  }
}

/** Passes the chunks on, and calls `onEnd` with their digest after the last one; never if the reader stops earlier. */
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
 * Passes the chunks on, the last one only if all together have the expected digest: the service stores no body that lacks
 * its end. Otherwise throws the error that `mismatch` returns. Calls `onEnd` as `digested` does.
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

/** Passes on the first `count` bytes of the chunks. */
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

/** Downloads a document and returns its digest. Throws EIO where the record has no URL, and the errors of `storedBytes`. */
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
  // Where neither the record nor the download gives the size, the document ends where the body ends.
  const everything = { offset: 0, length: Number.MAX_SAFE_INTEGER }
  return digestOf((await files.download(url, path, everything, { signal })).chunks)
}

/**
 * Downloads a document whose size the record gives. Throws NetworkError "protocol" for an answer of another length, which is
 * another document or a gateway's page, and so decides nothing.
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
