// Small contents are kept in the database: they become durable in the same commit as the row that refers to them. A file
// would cost two fsyncs, its own and its folder's.

import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { BlobBackend, BlobWriter, StagedBlob } from './backend.ts'

/** Contents up to this size are kept in the database. */
export const smallBytes: number = 32 * 1024

/** A staged content in memory. */
export class SmallBlob implements StagedBlob {
  readonly bytes: Buffer
  readonly sha256: string

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.sha256 = hash('sha256', bytes, 'hex')
  }

  get size(): number {
    return this.bytes.byteLength
  }

  stream(): Readable {
    return Readable.from([this.bytes])
  }

  discard(): void {}
}

/** Stages a content in memory up to `memoryBytes`, a longer one in `backend`. */
export class SpillingWriter implements BlobWriter {
  readonly #backend: Pick<BlobBackend, 'stage'>
  readonly #memoryBytes: number
  #small: Buffer[] = []
  #smallBytes = 0
  #large: BlobWriter | undefined

  constructor(backend: Pick<BlobBackend, 'stage'>, memoryBytes: number) {
    this.#backend = backend
    this.#memoryBytes = memoryBytes
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#large === undefined && this.#smallBytes + chunk.byteLength <= this.#memoryBytes) {
      this.#small.push(Buffer.from(chunk))
      this.#smallBytes += chunk.byteLength
      return
    }
    if (this.#large === undefined) {
      this.#large = await this.#backend.stage()
      for (const earlier of this.#small) await this.#large.write(earlier)
      this.#small = []
    }
    await this.#large.write(chunk)
  }

  async finish(): Promise<StagedBlob> {
    if (this.#large !== undefined) return this.#large.finish()
    const [only] = this.#small
    return new SmallBlob(this.#small.length === 1 && only !== undefined ? only : Buffer.concat(this.#small))
  }

  async discard(): Promise<void> {
    this.#small = []
    await this.#large?.discard()
  }
}
