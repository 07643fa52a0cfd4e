// The bytes of documents, by their SHA-256: the interface for routes and uploads, with one server (`content-store.ts`) or
// several (`shared-contents.ts`). A content is kept as long as a row of some table refers to it.

import type { Readable } from 'node:stream'
import type { ChangeArgument, ChangeResult } from '../store/changes.ts'
import type { BlobWriter, DownloadHeaders, StagedBlob } from './backend.ts'

export interface Contents {
  /**
   * Opens a writer for a new content, which stays in memory up to `memoryBytes` (at most 32 KiB), else goes to the backend.
   * `commitFile` or `keep` follows.
   */
  stage(memoryBytes?: number): BlobWriter
  /** Bytes `start` up to and including `end`. Undefined when there is no such content. */
  open(sha256: string, start: number, end: number): Promise<Readable | undefined>
  /** Same as `open`, as one buffer where the range has no more than `pieceBytes`, else as a stream of such pieces. */
  load(
    sha256: string,
    start: number,
    end: number,
    pieceBytes?: number,
  ): Promise<Buffer | Readable | undefined>
  /** A presigned URL of the content in a bucket, secret and valid for a minute from `now`. Undefined where there is none. */
  linkTo?(sha256: string, headers: DownloadHeaders, now: number): Promise<string | undefined>
  /** Makes the content and the file that refers to it durable in one transaction. */
  commitFile(staged: StagedBlob, file: FileOfContent): Promise<ChangeResult<'createFile'>>
  /** Makes the content durable, then runs `record`, which adds the row that refers to it in another transaction. */
  keep<Result>(staged: StagedBlob, record: () => Promise<Result>): Promise<Result>
  /** Runs `record`, which adds a row that refers to a stored content. Undefined, without running it, when the content is gone. */
  share<Result>(sha256: string, record: () => Promise<Result>): Promise<Result | undefined>
  /** Removes, in the background, those of the contents that no row refers to any more. */
  collect(sha256s: Iterable<string>): void
  /** Resolves when all calls of `collect` so far are carried out. */
  whenIdle(): Promise<void>
  /** Removes all contents that no row refers to, such as leftovers of a crash. */
  sweep(signal: AbortSignal): Promise<void>
}

/** A new file; its content is a separate argument. */
export type FileOfContent = Omit<ChangeArgument<'createFile'>, 'small' | 'content'>
