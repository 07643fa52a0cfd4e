// An upload to the bucket: one request for a small blob, a multipart upload for a larger one. At most two parts are in memory,
// one being filled and one being sent.

import { createHash, randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { lostUpload, type BlobWriter, type StagedBlob } from '../backend.ts'
import type { S3Client } from './client.ts'

export interface PartLimits {
  /** Of the first parts. */
  readonly firstBytes: number
  /** Of the largest part: two are in memory. */
  readonly largestBytes: number
  readonly parts: number
}

/** S3 requires parts of 5 MiB or more, and allows 10,000 of them, and 5 TiB together. */
export const partLimits: PartLimits = {
  firstBytes: 8 * 1024 * 1024,
  largestBytes: 2 * 1024 ** 3,
  parts: 10_000,
}
/** Parts get larger as often as this, since the size of an upload is not known before its end. */
const growths = 10
const keyBytes = 32

/** Size of a part, which doubles with each tenth of the allowed parts. `number`: from 0. */
export function partBytesOf(number: number, { firstBytes, largestBytes, parts }: PartLimits): number {
  return Math.min(largestBytes, firstBytes * 2 ** Math.floor((number * growths) / parts))
}

export class S3Writer implements BlobWriter {
  readonly #client: S3Client
  readonly #key: string
  readonly #limits: PartLimits
  readonly #hash = createHash('sha256')
  readonly #begunMs = performance.now()
  #size = 0
  #part: Buffer[] = []
  #partSize = 0
  #partHash = createHash('sha256')
  #uploadId: string | undefined
  readonly #etags: string[] = []
  /** Parts that were sent, or are being sent. */
  #parts = 0
  #sending: Promise<unknown> = Promise.resolve()
  #isEnded = false

  /** `key` of the object; random where absent. */
  constructor(
    client: S3Client,
    key: string = randomBytes(keyBytes).toString('hex'),
    limits: PartLimits = partLimits,
  ) {
    this.#client = client
    this.#key = key
    this.#limits = limits
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#isEnded) throw new Error('the upload was given up')
    this.#hash.update(chunk)
    this.#size += chunk.byteLength
    this.#part.push(Buffer.from(chunk))
    this.#partSize += chunk.byteLength
    this.#partHash.update(chunk)
    if (this.#partSize >= partBytesOf(this.#parts, this.#limits)) await this.#sendPart()
  }

  async finish(): Promise<StagedBlob> {
    const sha256 = this.#hash.digest('hex')
    if (this.#uploadId === undefined) {
      const headers = this.#client.encryptionHeaders
      await this.#client.ask({ method: 'PUT', key: this.#key, headers, body: this.#takePart(), sha256 })
    } else {
      if (this.#partSize > 0) await this.#sendPart()
      await this.#sending
      await this.#complete(this.#uploadId)
    }
    // The upload was discarded meanwhile.
    if (this.#isEnded) {
      await this.#client.ask({ method: 'DELETE', key: this.#key, allowed: [404] })
      throw new Error('the upload was given up')
    }
    this.#isEnded = true
    return new S3StagedBlob(this.#client, this.#key, sha256, this.#size, this.#begunMs)
  }

  async discard(): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#part = []
    await this.#sending.catch(() => undefined)
    if (this.#uploadId === undefined) return
    // If this fails, the sweep removes the upload, or a lifecycle rule of the bucket does.
    const query = { uploadId: this.#uploadId }
    await this.#client.ask({ method: 'DELETE', key: this.#key, query, allowed: [404] }).catch(() => undefined)
  }

  async #sendPart(): Promise<void> {
    await this.#sending
    this.#uploadId ??= await this.#begin()
    const query = { partNumber: String(++this.#parts), uploadId: this.#uploadId }
    const sha256 = this.#partHash.digest('hex')
    this.#partHash = createHash('sha256')
    const sending = this.#client
      .ask({ method: 'PUT', key: this.#key, query, body: this.#takePart(), sha256, allowed: [404] })
      .then((answer) => {
        if (!answer.ok) throw lostUpload()
        this.#etags.push(answer.headers.get('etag') ?? '')
      })
    // The next `write` or `finish` awaits `#sending`, and throws its failure.
    sending.catch(() => undefined)
    this.#sending = sending
  }

  #takePart(): Buffer {
    const bytes = Buffer.concat(this.#part)
    this.#part = []
    this.#partSize = 0
    return bytes
  }

  async #begin(): Promise<string> {
    const answer = await this.#client.ask({
      method: 'POST',
      key: this.#key,
      query: { uploads: '' },
      headers: this.#client.encryptionHeaders,
    })
    const id = /<UploadId>([^<]+)<\/UploadId>/.exec(answer.bytes.toString())?.[1]
    if (id === undefined) throw new Error('the store of contents began no upload')
    return id
  }

  async #complete(uploadId: string): Promise<void> {
    const parts = this.#etags.map(
      (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
    )
    const answer = await this.#client.ask({
      method: 'POST',
      key: this.#key,
      query: { uploadId },
      body: `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
      allowed: [404],
    })
    // S3 may send 200 before it has failed, with an error as the body. 404: the upload is gone, either removed, or completed by
    // an earlier attempt whose response was lost. The size of the object shows which.
    if (answer.ok && !answer.bytes.includes('<Error>')) return
    const found = await this.#client.ask({ method: 'HEAD', key: this.#key, allowed: [404] })
    if (Number(found.headers.get('content-length')) !== this.#size || !found.ok) throw lostUpload()
  }
}

export class S3StagedBlob implements StagedBlob {
  readonly #client: S3Client
  readonly key: string
  readonly sha256: string
  readonly size: number
  readonly begunMs: number
  #state: 'staged' | 'published' | 'dropped' = 'staged'

  constructor(client: S3Client, key: string, sha256: string, size: number, begunMs: number) {
    this.#client = client
    this.key = key
    this.sha256 = sha256
    this.size = size
    this.begunMs = begunMs
  }

  /** Throws after `discard`, for instance when the sender has disconnected: the object is being removed. */
  publish(): void {
    if (this.#state === 'dropped') throw new Error('the upload was given up')
    this.#state = 'published'
  }

  stream(): Readable {
    const bytes = new PassThrough()
    this.#client.open({ method: 'GET', key: this.key }).then(
      (answer) =>
        Readable.fromWeb(answer.body as ReadableStream)
          .on('error', (error) => bytes.destroy(error))
          .pipe(bytes),
      (error: unknown) => bytes.destroy(error as Error),
    )
    return bytes
  }

  async discard(): Promise<void> {
    if (this.#state !== 'staged') return
    this.#state = 'dropped'
    await this.#client.ask({ method: 'DELETE', key: this.key, allowed: [404] }).catch(() => undefined)
  }
}
