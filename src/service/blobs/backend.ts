// Storage for blobs: the interfaces that `disk.ts`, `shared-folder.ts` and `s3/` implement. A backend knows no projects and no
// paths. `disk.ts` is synchronous where the others return promises.

import type { Readable } from 'node:stream'
import type { MaybePromise } from '../../maybe-promise.ts'
import { ServiceError } from '../service-error.ts'

/** Storage of one server. Its blobs are named by their SHA-256. An upload is: `stage`, `write` each chunk, `finish`, `publish`. */
export interface BlobBackend {
  /** Opens a writer for a blob of unknown length. */
  stage(): MaybePromise<BlobWriter>
  /** Makes a staged blob readable under its hash, durably, and replaces a blob with the same hash. */
  publish(staged: StagedBlob): Promise<void>
  has(sha256: string): MaybePromise<boolean>
  /** Bytes `start` up to and including `end`, as one buffer or as a stream. Undefined when there is no such blob. */
  read(sha256: string, start: number, end: number): Promise<Buffer | undefined>
  stream(sha256: string, start: number, end: number, pieceBytes?: number): MaybePromise<Readable | undefined>
  /** Removes a blob; does nothing when there is no such blob. */
  remove(sha256: string): MaybePromise<void>
  /** The hashes of all blobs, in batches. */
  list(): Iterable<string[]> | AsyncIterable<string[]>
}

/** Storage that several servers ("nodes") share. Its keys are random: removing one blob never removes another node's new upload. */
export interface SharedBackend extends Pick<BlobBackend, 'stage' | 'read' | 'stream' | 'remove'> {
  /** Makes a staged blob readable, durably, and returns its key. */
  publish(staged: StagedBlob): Promise<string>
  /** A presigned URL for a client, secret and valid for a minute from `now` (epoch milliseconds). Undefined where there is none. */
  linkTo?(key: string, headers: DownloadHeaders, now: number): Promise<string | undefined>
  /** The keys of all blobs that were written before this time (epoch milliseconds), in batches. */
  listBefore(time: number): AsyncIterable<string[]>
  /** Removes uploads that began before this time (epoch milliseconds) and were never published. */
  dropStaged(before: number): Promise<void>
}

/** Content-Type and Content-Disposition of the response to a download. */
export interface DownloadHeaders {
  readonly mimetype: string
  readonly disposition: string
}

export interface BlobWriter {
  /** Resolves when the caller may overwrite `chunk`. */
  write(chunk: Uint8Array): Promise<void>
  /** Makes the bytes durable. Call it after the last write. */
  finish(): Promise<StagedBlob>
  discard(): MaybePromise<void>
}

/** A blob that is written completely but not published. */
export interface StagedBlob {
  readonly sha256: string
  readonly size: number
  /** `performance.now()` at the beginning of the upload to the disk or bucket; absent for a blob in memory. */
  readonly begunMs?: number
  stream(): Readable
  /** Removes the bytes; does nothing after `publish`. */
  discard(): MaybePromise<void>
}

/** The error for an unpublished upload that a sweep, or a lifecycle rule of the bucket, removed as a leftover of a crash. */
export function lostUpload(): ServiceError {
  return new ServiceError(503, 'the store of contents has lost the upload: try again')
}
