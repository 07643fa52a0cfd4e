// Decompression of response bodies. docmount requests no compression, but some gateways compress all the same.

import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { Answer } from '../world/transport.ts'

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Headers that describe the compressed body, and are removed with the compression. */
const headersOfCodedBody: ReadonlySet<string> = new Set(['content-length', 'content-encoding', 'etag'])

function codingOf(answer: Answer): string | undefined {
  const coding = answer.header('content-encoding')?.trim().toLowerCase() ?? ''
  return coding === '' || coding === 'identity' ? undefined : coding
}

export function isEncoded(answer: Answer): boolean {
  return codingOf(answer) !== undefined
}

/** Returns the response with a plain body. Throws NetworkError "protocol" for an unknown coding. */
export function decoded(call: CallDescription, answer: Answer): Answer {
  const coding = codingOf(answer)
  if (coding === undefined) return answer
  const decoder = decoders[coding]
  if (decoder === undefined) {
    answer.discard()
    throw new NetworkError(call, 'protocol', `the answer is encoded as ${coding}, which was not asked for`)
  }
  return {
    ...answer,
    header: (name) => (headersOfCodedBody.has(name) ? undefined : answer.header(name)),
    chunks: decode(call, answer, decoder()),
  }
}

async function* decode(
  call: CallDescription,
  answer: Answer,
  decoder: Transform,
): AsyncGenerator<Uint8Array> {
  // Errors need no handling here: the loop below throws them, too.
  pipeline(Readable.from(answer.chunks), decoder, () => {})
  try {
    yield* decoder as AsyncIterable<Uint8Array>
  } catch (error) {
    throw decodingError(call, error)
  } finally {
    answer.discard()
  }
}

function decodingError(call: CallDescription, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  // The compressed data ended too early: the connection broke.
  if (code === 'Z_BUF_ERROR') return new NetworkError(call, 'cut', 'the compressed answer is not whole')
  // Codes of Brotli begin with ERR__ERROR_FORMAT.
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'))
    return new NetworkError(call, 'protocol', 'the answer is not compressed as it says')
  return error
}
