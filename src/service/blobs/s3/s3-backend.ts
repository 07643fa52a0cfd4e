// Blobs as objects of a bucket, under random keys: S3 limits requests per prefix of a key, and random keys have all prefixes.

import { Readable, Transform, pipeline } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { StartError } from '../../start-error.ts'
import type { BlobWriter, SharedBackend, DownloadHeaders, StagedBlob } from '../backend.ts'
import type { S3Address } from './address.ts'
import { DamagedContentError } from '../intact.ts'
import { S3Client, type S3Request } from './client.ts'
import { listObjects } from './lists.ts'
import { S3StagedBlob, S3Writer } from './writer.ts'
import { elements, valueOf } from './xml.ts'

const ownKey = /^[0-9a-f]{64}$/

/** Throws a StartError for a malformed address, and where the bucket cannot be listed. `now`: epoch milliseconds. */
export async function openS3Backend(address: S3Address, now: () => number): Promise<SharedBackend> {
  const client = await S3Client.open(address, now)
  await client
    .ask({ method: 'GET', query: { 'list-type': '2', 'max-keys': '1' } })
    .catch((error: unknown) => {
      throw new StartError(`the bucket cannot be used: ${reasonOf(error)}`, { cause: error })
    })
  return new S3Backend(client, address.redirectsDownloads === true)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/: try again$/, '') : String(error)
}

class S3Backend implements SharedBackend {
  readonly #client: S3Client
  readonly #isDirect: boolean

  constructor(client: S3Client, isDirect: boolean) {
    this.#client = client
    this.#isDirect = isDirect
  }

  stage(): BlobWriter {
    return new S3Writer(this.#client)
  }

  async publish(staged: StagedBlob): Promise<string> {
    if (!(staged instanceof S3StagedBlob)) throw new TypeError('staged by another backend')
    staged.publish()
    return staged.key
  }

  async read(key: string, start: number, end: number): Promise<Buffer | undefined> {
    const { status, bytes } = await this.#client.ask(rangeOf(key, start, end))
    if (status === 404) return undefined
    if (status === 416 || bytes.byteLength !== end - start + 1) throw truncatedError(key)
    return bytes
  }

  async stream(key: string, start: number, end: number): Promise<Readable | undefined> {
    const answer = await this.#client.open(rangeOf(key, start, end))
    if (answer.ok) return checkLength(answer.body as ReadableStream, end - start + 1, key)
    await answer.body?.cancel()
    if (answer.status === 416) throw truncatedError(key)
    return undefined
  }

  async linkTo(key: string, headers: DownloadHeaders, now: number): Promise<string | undefined> {
    return this.#isDirect ? this.#client.presign(key, headers, now) : undefined
  }

  async remove(key: string): Promise<void> {
    await this.#client.ask({ method: 'DELETE', key, allowed: [404] })
  }

  async *listBefore(time: number): AsyncGenerator<string[]> {
    for await (const objects of listObjects(this.#client, '')) {
      yield objects.filter(({ key, changedAt }) => changedAt < time && ownKey.test(key)).map(({ key }) => key)
    }
  }

  async dropStaged(before: number): Promise<void> {
    const { prefix } = this.#client
    let marker: Record<string, string> | undefined = {}
    while (marker !== undefined) {
      const query: Record<string, string> = { uploads: '', prefix, ...marker }
      const text = (await this.#client.ask({ method: 'GET', query })).bytes.toString()
      for (const upload of elements(text, 'Upload')) {
        const key = this.#ownKeyOf(upload)
        const uploadId = valueOf(upload, 'UploadId')
        if (key === undefined || uploadId === undefined) continue
        if (!(Date.parse(valueOf(upload, 'Initiated') ?? '') < before)) continue
        await this.#client.ask({ method: 'DELETE', key, query: { uploadId }, allowed: [404] })
      }
      const [nextKey, nextId] = [valueOf(text, 'NextKeyMarker'), valueOf(text, 'NextUploadIdMarker')]
      marker =
        valueOf(text, 'IsTruncated') === 'true' && nextKey !== undefined
          ? { 'key-marker': nextKey, ...(nextId === undefined ? {} : { 'upload-id-marker': nextId }) }
          : undefined
    }
  }

  /** Undefined for objects that other programs keep in the bucket. */
  #ownKeyOf(element: string): string | undefined {
    const { prefix } = this.#client
    const key = valueOf(element, 'Key') ?? ''
    const own = key.startsWith(prefix) ? key.slice(prefix.length) : ''
    return ownKey.test(own) ? own : undefined
  }
}

function rangeOf(key: string, start: number, end: number): S3Request {
  // 416: the object ends before the range begins.
  return { method: 'GET', key, headers: { range: `bytes=${start}-${end}` }, allowed: [404, 416] }
}

function truncatedError(key: string): Error {
  return new DamagedContentError(key, 'is shorter than recorded')
}

/** A stream of `body` that fails unless it has exactly `expected` bytes: the client has got that Content-Length. */
function checkLength(body: ReadableStream, expected: number, key: string): Readable {
  let bytes = 0
  const wrong = (): Error => new DamagedContentError(key, 'is not of the length that was asked for')
  const count = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.byteLength
      if (bytes > expected) done(wrong())
      else done(null, chunk)
    },
    flush: (done) => done(bytes === expected ? null : wrong()),
  })
  return pipeline(Readable.fromWeb(body), count, () => undefined)
}
