// Everything one upload has staged. Dropped when its request ends, published or not.

import { randomUUID } from 'node:crypto'
import type { BlobWriter, StagedBlob } from '../blobs/backend.ts'
import type { ContentStore } from '../blobs/content-store.ts'

export class Staging {
  readonly #blobs: ContentStore
  /** Begins every placeholder: unknown to the sender, so that no body can pretend to one. */
  readonly #mark = `staged:${randomUUID()}:`
  readonly #staged: StagedBlob[] = []
  readonly #writers = new Set<BlobWriter>()

  constructor(blobs: ContentStore) {
    this.#blobs = blobs
  }

  stage(): BlobWriter {
    const writer = this.#blobs.stage()
    this.#writers.add(writer)
    return {
      write: (chunk) => writer.write(chunk),
      finish: async () => {
        const blob = await writer.finish()
        this.#writers.delete(writer)
        this.#staged.push(blob)
        return blob
      },
      discard: () => writer.discard(),
    }
  }

  /** A placeholder that stands for the blob in a JSON string. */
  add(blob: StagedBlob): string {
    return `${this.#mark}${this.#staged.indexOf(blob)}`
  }

  /** The blob a string stands for, if it is a placeholder. */
  find(text: string): StagedBlob | undefined {
    return text.startsWith(this.#mark) ? this.#staged[Number(text.slice(this.#mark.length))] : undefined
  }

  async discard(): Promise<void> {
    for (const staged of [...this.#writers, ...this.#staged]) await staged.discard()
  }
}
