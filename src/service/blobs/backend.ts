// Where bytes rest. Knows hashes and bytes; no projects, no paths. `disk.ts` is the one there is; whatever may answer at
// once or later is typed so that a remote store fits too.

import type { Readable } from 'node:stream'

type Later<Value> = Value | Promise<Value>

export interface BlobBackend {
  /** Begins a new blob of unknown length. */
  stage(): Later<BlobWriter>
  /** Makes a staged blob readable under its hash, durably. A hash that is there already stays as it is. */
  publish(staged: StagedBlob): Promise<void>
  has(sha256: string): Later<boolean>
  /** Bytes `start` up to and including `end`, as one buffer or as a stream. Undefined when there is no such blob. */
  read(sha256: string, start: number, end: number): Promise<Buffer | undefined>
  stream(sha256: string, start: number, end: number): Later<Readable | undefined>
  /** Removes a blob; one that is not there counts as removed. */
  remove(sha256: string): Later<void>
  /** Every hash there is, in batches. */
  list(): Iterable<string[]> | AsyncIterable<string[]>
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
  stream(): Readable
  /** Drops the bytes; does nothing once published. */
  discard(): Later<void>
}
