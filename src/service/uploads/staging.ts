// Contents that one upload has staged, with the limits on them. While the JSON body comes in, each base64 string goes to a blob and
// leaves a placeholder, so that no document is held in memory as JSON. The end of the request discards them all.

import { randomUUID } from 'node:crypto'
import type { BlobWriter, StagedBlob } from '../blobs/backend.ts'
import type { Contents } from '../blobs/contents.ts'
import { smallBytes } from '../blobs/small-blob.ts'
import { type Limits, exceeds } from '../limits.ts'
import { largestPieceBytes } from '../pieces.ts'
import { ServiceError } from '../service-error.ts'
import { fullProject } from '../store/usage.ts'

/** Small contents wait in memory, but not more than this of one upload: the rest waits on disk. */
const memoryBytes = 1024 * 1024

export class Staging {
  readonly pieceBytes: number
  readonly #blobs: Contents
  readonly #limits: Limits
  readonly #quotaBytes: number
  /** Begins every placeholder: unknown to the sender, so that no body can pretend to one. */
  readonly #mark = `staged:${randomUUID()}:`
  readonly #staged: StagedBlob[] = []
  readonly #writers = new Set<BlobWriter>()
  readonly #received = { bytes: 0, parts: 0 }
  readonly #begunMs = performance.now()
  #uriParts = 0
  #memoryBytes = 0
  #fetching: AbortSignal | undefined

  /** `roomBytes`: what the project may still take; `pieceBytes`: what may be in memory of a content on its way. */
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

  /** Throws ServiceError 413 beyond the number of parts a document may have. */
  checkParts(received: number): void {
    const { parts } = this.#limits
    if (exceeds(received, parts)) throw new ServiceError(413, `a document has at most ${parts} parts`)
  }

  /** Throws ServiceError 413 beyond the number of parts that may come by `uri`. */
  addUriPart(): void {
    const { uriParts } = this.#limits
    if (exceeds(++this.#uriParts, uriParts))
      throw new ServiceError(
        413,
        `a document has at most ${uriParts} parts by uri: send the others as binary`,
      )
  }

  /** Of all that this upload fetches: aborts after `totalMs`, and no later than the upload may take. */
  fetchSignal(totalMs: number): AbortSignal {
    const { uploadMs } = this.#limits
    const leftMs = uploadMs === 0 ? Infinity : this.#begunMs + uploadMs - performance.now()
    this.#fetching ??= AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(totalMs, leftMs))))
    return this.#fetching
  }

  /** A writer for one part. Throws ServiceError 413 for a part too many; the writer does for a byte too many. */
  stage(): BlobWriter {
    this.checkParts(++this.#received.parts)
    return this.#stage(this.#received, this.#limits.documentBytes)
  }

  /** For a document that is made of what was staged. */
  stageDocument(): BlobWriter {
    const bounds = [this.#limits.documentBytes, this.#limits.multipartBytes].filter((bytes) => bytes !== 0)
    return this.#stage({ bytes: 0 }, bounds.length === 0 ? 0 : Math.min(...bounds))
  }

  /** A placeholder that stands for the blob in a JSON string. */
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

  #stage(count: { bytes: number }, mostBytes: number): BlobWriter {
    const inMemory = Math.min(smallBytes, Math.max(0, memoryBytes - this.#memoryBytes))
    const writer = this.#blobs.stage(inMemory)
    this.#writers.add(writer)
    return {
      write: async (chunk) => {
        count.bytes += chunk.byteLength
        if (exceeds(count.bytes, mostBytes))
          throw new ServiceError(413, `a document has at most ${mostBytes} bytes`)
        if (count.bytes > this.#quotaBytes) throw fullProject()
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
