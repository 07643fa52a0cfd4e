// The Document of an upload as a request body: a JSON head, the content in base64, a JSON tail. It is streamed, so that memory
// stays constant. Content-Length is known before the first byte: many gateways refuse chunked uploads.

import { ContentError, InputError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { RequestBody } from './caller.ts'
import type { BytesContent, Upload } from './types.ts'

/** Where the Document is in the request's JSON, and the one field that only storage tables have (interface, "Document"). */
export interface DocumentPlace {
  /** Returns the request's object with the Document as its last value. Default: the Document itself. */
  readonly wrap?: (document: object) => object
  readonly zeroRetentionMode?: boolean | undefined
}

/** Returns the body of an upload. Sending it throws ContentError if the source yields more or fewer bytes than `size`. */
export function uploadBody(call: CallDescription, upload: Upload, place: DocumentPlace = {}): RequestBody {
  const { wrap = (document) => document, zeroRetentionMode } = place
  const { content } = upload
  const json = (fileType: string, file: unknown): string =>
    JSON.stringify(
      wrap({
        mimetype: upload.mimetype,
        filename: upload.filename,
        file_type: fileType,
        ...(zeroRetentionMode === undefined ? {} : { zero_retention_mode: zeroRetentionMode }),
        file,
      }),
    )
  if (content.kind === 'uri') return jsonBody(json('uri', content.url))
  if (content.kind === 'multipart') return jsonBody(json('multipart', content.parts))

  if (!Number.isSafeInteger(content.size) || content.size < 0) {
    throw new InputError(`${call.method} ${call.path}: the size ${content.size} is not a number of bytes`)
  }
  const frame = json('binary', '')
  // `file` is the last key of the last object, so the last empty string is where the content goes.
  const middle = frame.lastIndexOf('""') + 1
  const head = Buffer.from(frame.slice(0, middle))
  const tail = Buffer.from(frame.slice(middle))
  const length = head.length + 4 * Math.ceil(content.size / 3) + tail.length
  const bytes: BytesContent = content
  async function* stream(signal: AbortSignal, onProgress: () => void): AsyncGenerator<Uint8Array> {
    yield head
    for await (const chunk of base64Of(call, bytes, signal)) {
      yield chunk
      onProgress()
    }
    yield tail
  }
  return {
    length,
    open: (signal, onProgress) =>
      length <= onePieceBytes
        ? inOnePiece(call, content, { head, tail, signal, onProgress })
        : stream(signal, onProgress),
  }
}

/** Yields the whole body as one chunk. */
async function* inOnePiece(
  call: CallDescription,
  content: BytesContent,
  {
    head,
    tail,
    signal,
    onProgress,
  }: { head: Buffer; tail: Buffer; signal: AbortSignal; onProgress: () => void },
): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = []
  let count = 0
  for await (const chunk of content.open(signal)) {
    count += chunk.length
    if (count > content.size) throw tooLong(call, content)
    // Copied, because the source may reuse its buffer.
    pieces.push(Buffer.from(chunk))
    onProgress()
  }
  if (count < content.size) throw tooShort(call, content, count)
  const bytes = Buffer.concat(pieces)
  yield Buffer.concat([head, encode(bytes, 0, bytes.length), tail])
}

/** Returns JSON as a body. */
export function jsonBody(json: string): RequestBody {
  return { length: Buffer.byteLength(json), open: () => json }
}

/** Bodies up to this length are one chunk, which is sent together with the request's headers: the server wakes once. */
const onePieceBytes = 64 * 1024
/** Source bytes per chunk: a multiple of 3 for base64, and small enough to show progress on a slow line. */
const blockBytes = 3 * 32 * 1024
/** Source bytes per call of the encoder: V8 keeps a text of so many with its young objects. Longer ones are garbage for full collections. */
const stepBytes = 3 * 8 * 1024

async function* base64Of(
  call: CallDescription,
  content: BytesContent,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0)
  let count = 0
  for await (const chunk of content.open(signal)) {
    count += chunk.length
    if (count > content.size) throw tooLong(call, content)
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const bytes: Buffer = rest.length === 0 ? view : Buffer.concat([rest, view])
    const aligned = bytes.length - (bytes.length % 3)
    for (let start = 0; start < aligned; start += blockBytes) {
      yield encode(bytes, start, Math.min(start + blockBytes, aligned))
    }
    // Copied, because the source may reuse its buffer.
    rest = Buffer.from(bytes.subarray(aligned))
  }
  if (count < content.size) throw tooShort(call, content, count)
  if (rest.length > 0) yield encode(rest, 0, rest.length)
}

function tooLong(call: CallDescription, { size }: BytesContent): ContentError {
  return new ContentError(call, `the content is longer than its ${size} bytes; nothing was stored`)
}

function tooShort(call: CallDescription, { size }: BytesContent, count: number): ContentError {
  return new ContentError(call, `the content ended after ${count} of ${size} bytes; nothing was stored`)
}

function encode(bytes: Buffer, start: number, end: number): Buffer {
  const text = Buffer.allocUnsafeSlow(4 * Math.ceil((end - start) / 3))
  let at = 0
  for (let from = start; from < end; from += stepBytes)
    at += text.write(bytes.toString('base64', from, Math.min(from + stepBytes, end)), at, 'latin1')
  return text
}
