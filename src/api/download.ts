// Ranged downloads from presigned URLs, and from the URLs they redirect to. They never carry the key, and are not retried
// here: a retry needs a new URL, which the reader (`content/read`) asks for.

import type { Clock } from '../world/clock.ts'
import type { Bandwidth } from './bandwidth.ts'
import { decoded, isEncoded } from './content-coding.ts'
import { Deadline } from './deadline.ts'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import { isOfUnknownWhole, type Part, partOf } from './download-part.ts'
import { type UrlParts, follow } from './redirects.ts'
import { bodyLengthOf, type Answer, type Transport } from '../world/transport.ts'
import type { CallOptions, Download, Range, RequestRecord } from './types.ts'

export interface DownloaderOptions {
  readonly transport: Transport
  readonly userAgent: string
  /** Time limit without progress, in milliseconds, for a call without a deadline of its own. */
  readonly stallMs: number
  readonly clock: Clock
  readonly bandwidth: Bandwidth
  readonly onRequest: ((record: RequestRecord) => void) | undefined
}

const nothing = new Uint8Array(0)

/** See Files.download. */
export type Downloader = (url: string, path: string, range: Range, options?: CallOptions) => Promise<Download>

export function createDownloader(downloader: DownloaderOptions): Downloader {
  return async (url, path, range, options) => {
    const call: CallDescription = { method: 'GET', path }
    const place = splitUrl(call, url)
    checkRange(range)
    if (range.length === 0) return { totalSize: undefined, etag: undefined, chunks: noChunks() }

    const { watch } = options ?? {}
    const { clock } = downloader
    const deadline = new Deadline(options?.signal, watch, options?.deadlineMs ?? downloader.stallMs, clock)
    const paced = (answer: Answer): Answer => ({
      ...answer,
      chunks: downloader.bandwidth.isLimited
        ? downloader.bandwidth.pace(answer.chunks, deadline.signal)
        : answer.chunks,
    })
    const startedAt = clock.monotonic()
    let status: number | undefined
    let bytes: number | undefined
    try {
      const secrets = [url, place.target]
      const ask = async (headers: Record<string, string>): Promise<Answer> => {
        const followed = await follow(call, place, (at) =>
          downloader.transport.download({
            call,
            method: 'GET',
            ...at,
            // Offsets in a compressed body are not those of the document.
            headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': downloader.userAgent },
            signal: deadline.signal,
          }),
        )
        secrets.push(...followed.secrets)
        return followed.answer
      }
      let answer = await ask({ range: `bytes=${range.offset}-${range.offset + range.length - 1}` })
      if (answer.status === 206 && (isEncoded(answer) || isOfUnknownWhole(answer))) {
        // Ambiguous: a range of the compressed file, a compressed range, or a range of another version. The whole file is not.
        answer.discard()
        answer = await ask({})
      }
      status = answer.status
      bytes = bodyLengthOf(answer)
      watch?.onProgress()
      const plain = decoded(call, paced(answer))
      const part = await partOf(call, plain, range, secrets, clock.wall())
      return {
        totalSize: part.totalSize,
        etag: plain.header('etag'),
        chunks: chunksOf(
          call,
          withLengthCheck(call, plain, part),
          part,
          deadline,
          options?.deadlineMs === undefined,
        ),
      }
    } catch (error) {
      deadline.dispose()
      throw deadline.explain(call, error)
    } finally {
      const elapsedMs = clock.monotonic() - startedAt
      downloader.onRequest?.({ kind: 'download', ...call, status, attempt: 1, elapsedMs, bytes })
    }
  }
}

/**
 * Returns the requested bytes of the body. Frees the connection at the end, also if it is closed before its first read.
 * `isStallOnly`: the deadline limits each wait for bytes, and rests while the reader works on them.
 */
function chunksOf(
  call: CallDescription,
  answer: Answer,
  part: Part,
  deadline: Deadline,
  isStallOnly: boolean,
): AsyncIterableIterator<Uint8Array> {
  const chunks = requestedBytes(call, answer, part, deadline, isStallOnly)
  const release = (): void => {
    deadline.dispose()
    answer.discard()
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      try {
        const result = await chunks.next()
        if (result.done === true) release()
        return result
      } catch (error) {
        release()
        throw deadline.explain(call, error)
      }
    },
    async return() {
      release()
      await chunks.return(undefined)
      return { done: true, value: undefined }
    },
  }
}

async function* requestedBytes(
  call: CallDescription,
  answer: Answer,
  part: Part,
  deadline: Deadline,
  isStallOnly: boolean,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  let { skip } = part
  let left = part.length
  if (left === 0) return
  for await (const chunk of answer.chunks) {
    const from = Math.min(skip, chunk.length)
    skip -= from
    const wanted = chunk.subarray(from, from + left)
    left -= wanted.length
    if (isStallOnly) deadline.pause()
    yield wanted
    if (isStallOnly) deadline.renew()
    // A body that may end here is read to its end, so that its connection can be used again.
    if (left === 0 && from + wanted.length < chunk.length) return
  }
  if (left > 0 && part.isLengthPromised) {
    throw new NetworkError(call, 'cut', `the connection broke ${left} bytes before the end of the range`)
  }
}

/**
 * Returns the response with a check of its length, if its headers do not give one: it may be another version, or a gateway's page.
 * The last requested bytes are held back until the body has ended with the document's length.
 */
function withLengthCheck(call: CallDescription, answer: Answer, { skip, length, wantedSize }: Part): Answer {
  if (wantedSize === undefined) return answer
  return { ...answer, chunks: chunksWithLengthCheck(call, answer.chunks, skip + length, wantedSize) }
}

async function* chunksWithLengthCheck(
  call: CallDescription,
  chunks: AsyncIterable<Uint8Array>,
  end: number,
  wantedSize: number,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  let size = 0
  let last: Uint8Array | undefined
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > wantedSize) throw wrongSize(call, `more than ${wantedSize}`, wantedSize)
    // An empty chunk shows the reader that bytes came.
    yield size < end ? chunk : nothing
    if (size >= end) last ??= chunk
  }
  if (size < wantedSize) throw wrongSize(call, `${size}`, wantedSize)
  if (last !== undefined) yield last
}

function wrongSize(call: CallDescription, bytes: string, wantedSize: number): NetworkError {
  return new NetworkError(call, 'protocol', `the answer has ${bytes} bytes, the document ${wantedSize}`)
}

/** Throws RangeError, not a client error: a bad range is a mistake of the caller. */
function checkRange({ offset, length }: Range): void {
  const isWhole = Number.isSafeInteger(offset) && Number.isSafeInteger(length)
  if (!isWhole || offset < 0 || length < 0 || !Number.isSafeInteger(offset + length)) {
    throw new RangeError(`${length} bytes from ${offset} are not a range`)
  }
}

/** Splits the URL. Its error does not quote it: the URL is a secret for 15 minutes. */
/** Throws NetworkError "protocol" for text that is no absolute http(s) URL. */
export function splitUrl(call: CallDescription, url: string): UrlParts {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw new NetworkError(call, 'protocol', 'the download URL is not an absolute http(s) URL')
  }
  return { origin: parsed.origin, target: parsed.pathname + parsed.search }
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}
