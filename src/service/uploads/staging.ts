// The contents that one upload has staged, with their limits. While the JSON body arrives, each base64 string is written to a
// blob, and a placeholder replaces it. At the end of the request, contents that were not published are discarded.

import { randomUUID } from 'node:crypto'
import type { BlobWriter, StagedBlob } from '../blobs/backend.ts'
import type { Contents } from '../blobs/contents.ts'
import { smallBytes } from '../blobs/small-blob.ts'
import { type Limits, exceeds } from '../limits.ts'
import { largestPieceBytes } from '../pieces.ts'
import { ServiceError } from '../service-error.ts'
import { fullProject } from '../store/usage.ts'

/** Small contents of one upload are staged in memory up to this sum, further ones on disk. */
const memoryBytes = 1024 * 1024

export class Staging {
  readonly pieceBytes: number
  readonly #blobs: Contents
  readonly #limits: Limits
  readonly #quotaBytes: number
  /** Beginning of every placeholder. It is random, so that no client can forge one. */
  readonly #mark = `staged:${randomUUID()}:`
  readonly #staged: StagedBlob[] = []
  readonly #writers = new Set<BlobWriter>()
  readonly #received = { bytes: 0, parts: 0 }
  readonly #begunMs = performance.now()
  #uriParts = 0
  #memoryBytes = 0
  #fetching: AbortSignal | undefined

  /** `quotaBytes`: the space left in the project; `pieceBytes`: how much of a content may be in memory while it arrives. */
  constructor(
    blobs: Contents,
    limits: Limits,
    quotaBytes: number = Infinity,
    pieceBytes: number = largestPieceBytes,
  ) {
    this.#blobs = blobs
    this.#limits = limits
    this.#quotaBytes = quotaBytes
    this.pieceBytes = pieceBytes
  }

  /** Throws ServiceError 413 for more parts than a document may have. */
  checkParts(count: number): void {
    const { parts } = this.#limits
    if (exceeds(count, parts)) throw new ServiceError(413, `a document has at most ${parts} parts`)
  }

  /** Counts a part by `uri`. Throws ServiceError 413 for more than a document may have. */
  addUriPart(): void {
    const { uriParts } = this.#limits
    if (exceeds(++this.#uriParts, uriParts))
      throw new ServiceError(
        413,
        `a document has at most ${uriParts} parts by uri: send the others as binary`,
      )
  }

  /** A signal for all fetches of this upload: aborts `totalMs` after the first call, or when the upload's own time is over. */
  fetchSignal(totalMs: number): AbortSignal {
    const { uploadMs } = this.#limits
    const leftMs = uploadMs === 0 ? Infinity : this.#begunMs + uploadMs - performance.now()
    this.#fetching ??= AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(totalMs, leftMs))))
    return this.#fetching
  }

  /** A writer for one part. Throws ServiceError 413 for a part too many; `write` throws it for a byte too many. */
  stage(): BlobWriter {
    this.checkParts(++this.#received.parts)
    return this.#stage(this.#received, this.#limits.documentBytes)
  }

  /** A writer for the document that is made of the staged parts. */
  stageDocument(): BlobWriter {
    const bounds = [this.#limits.documentBytes, this.#limits.multipartBytes].filter((bytes) => bytes !== 0)
    return this.#stage({ bytes: 0 }, bounds.length === 0 ? 0 : Math.min(...bounds))
  }

  /** The placeholder that stands for a blob in a JSON string. */
  placeholderOf(blob: StagedBlob): string {
    return `${this.#mark}${this.#staged.indexOf(blob)}`
  }

  /** The blob a string stands for, if it is a placeholder. */
  blobOf(text: string): StagedBlob | undefined {
    return text.startsWith(this.#mark) ? this.#staged[Number(text.slice(this.#mark.length))] : undefined
  }

  async discard(): Promise<void> {
    for (const staged of [...this.#writers, ...this.#staged]) await staged.discard()
  }

  /** `received.bytes` is counted by all writers that share it, and limited by `maxBytes`. */
  #stage(received: { bytes: number }, maxBytes: number): BlobWriter {
    const inMemory = Math.min(smallBytes, Math.max(0, memoryBytes - this.#memoryBytes))
    const writer = this.#blobs.stage(inMemory)
    this.#writers.add(writer)
    return {
      write: async (chunk) => {
        received.bytes += chunk.byteLength
        if (exceeds(received.bytes, maxBytes))
          throw new ServiceError(413, `a document has at most ${maxBytes} bytes`)
        if (received.bytes > this.#quotaBytes) throw fullProject()
        await writer.write(chunk)
      },
      finish: async () => {
        const blob = await writer.finish()
        this.#writers.delete(writer)
        this.#staged.push(blob)
        if (blob.size <= inMemory) this.#memoryBytes += blob.size
        return blob
      },
      discard: () => writer.discard(),
    }
  }
}
