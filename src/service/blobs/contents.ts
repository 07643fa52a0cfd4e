// The bytes of documents, by the hash of their content: what routes and uploads are given, wherever the bytes rest. Content
// lives as long as some table refers to it.

import type { Readable } from 'node:stream'
import type { ChangeArgument, ChangeResult } from '../store/changes.ts'
import type { BlobWriter, ShownAs, StagedBlob } from './backend.ts'

export interface Contents {
  /** Up to `memoryBytes` (at most 32 KiB) wait in memory, more on disk. */
  stage(memoryBytes?: number): BlobWriter
  /** Bytes `start` up to and including `end`. Undefined when there is no such content. */
  open(sha256: string, start: number, end: number): Promise<Readable | undefined>
  /** The same to be sent on at once: as one piece where it has no more than `pieceBytes`, else in such pieces. */
  load(
    sha256: string,
    start: number,
    end: number,
    pieceBytes?: number,
  ): Promise<Buffer | Readable | undefined>
  /** A URL of the content elsewhere, a secret for a minute from `now`. Undefined where it is to be had here only. */
  linkTo?(sha256: string, as: ShownAs, now: number): Promise<string | undefined>
  /** Makes the content durable together with the file that refers to it. */
  commitFile(staged: StagedBlob, file: FileOfContent): Promise<ChangeResult<'createFile'>>
  /** Makes the content durable, then runs `record`, which adds the row that refers to it in a transaction of its own. */
  keep<Result>(staged: StagedBlob, record: () => Promise<Result>): Promise<Result>
  /** Runs `record`, which adds another row that refers to content that is here. Undefined, `record` not run, when it is gone. */
  share<Result>(sha256: string, record: () => Promise<Result>): Promise<Result | undefined>
  /** Removes what of this nothing refers to any more, soon; `whenIdle` tells when. */
  collect(sha256s: Iterable<string>): void
  /** Resolves when everything given to `collect` so far is done with. */
  whenIdle(): Promise<void>
  /** Removes what nothing refers to: what a crash left. */
  sweep(signal: AbortSignal): Promise<void>
}

/** A new file without its content, which is passed beside it. */
export type FileOfContent = Omit<ChangeArgument<'createFile'>, 'small' | 'content'>
