// Where bytes rest. Knows hashes and bytes; no projects, no paths. `disk.ts` answers at once, `shared-folder.ts` and
// `s3/` later.

import type { Readable } from 'node:stream'
import { ServiceError } from '../service-error.ts'

type Later<Value> = Value | Promise<Value>

export interface BlobBackend {
  /** Begins a new blob of unknown length. */
  stage(): Later<BlobWriter>
  /** Makes a staged blob readable under its hash, durably, in place of what may be there. */
  publish(staged: StagedBlob): Promise<void>
  has(sha256: string): Later<boolean>
  /** Bytes `start` up to and including `end`, as one buffer or as a stream. Undefined when there is no such blob. */
  read(sha256: string, start: number, end: number): Promise<Buffer | undefined>
  stream(sha256: string, start: number, end: number, pieceBytes?: number): Later<Readable | undefined>
  /** Removes a blob; one that is not there counts as removed. */
  remove(sha256: string): Later<void>
  /** Every hash there is, in batches. */
  list(): Iterable<string[]> | AsyncIterable<string[]>
}

/** Where several nodes keep bytes: under keys made by chance, so that nobody takes away what another has just put there. */
export interface SharedBackend extends Pick<BlobBackend, 'stage' | 'read' | 'stream' | 'remove'> {
  /** Makes a staged blob readable, durably; answers its key. */
  publish(staged: StagedBlob): Promise<string>
  /** A URL of the bytes for somebody else, a secret for a minute. Undefined where there is none. */
  linkTo?(key: string, as: ShownAs, now: number): Promise<string | undefined>
  /** Every key there is whose blob was written before this time (epoch milliseconds), in batches. */
  listBefore(time: number): AsyncIterable<string[]>
  /** Drops what was begun before this time and never published. */
  dropStaged(before: number): Promise<void>
}

/** Content-Type and Content-Disposition of an answer that carries the bytes. */
export interface ShownAs {
  readonly mimetype: string
  readonly disposition: string
}

export interface BlobWriter {
  /** Resolves when `chunk` may be used again. */
  write(chunk: Uint8Array): Promise<void>
  /** All bytes are written: makes them durable. */
  finish(): Promise<StagedBlob>
  discard(): Later<void>
}

/** Bytes written whole, not yet readable under their hash. */
export interface StagedBlob {
  readonly sha256: string
  readonly size: number
  /** When its first byte was to be written outside of memory, by the steady clock (milliseconds). */
  readonly begunMs?: number
  stream(): Readable
  /** Drops the bytes; does nothing once published. */
  discard(): Later<void>
}

/** The store has forgotten what it had begun: a sweep, or the store's own rule, took it for a crash's. */
export function lostUpload(): ServiceError {
  return new ServiceError(503, 'the store of contents has lost the upload: try again')
}
