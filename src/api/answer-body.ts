// Reads an answer's body into memory, never more than a bound: JSON, or the few words of an error.

import { ApiError, NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import { PiecewiseJson, textOf } from './piecewise-json.ts'
import { retryAfterMsOf } from './retry.ts'
import type { Answer } from '../world/transport.ts'

const errorBodyBytes = 64 * 1024
const longestErrorMessage = 500

/** Entries of one list: a listing without an end must not fill the memory. */
const mostElements = 2_000_000

export interface JsonBounds {
  readonly maxBytes: number
  /** Told whenever a piece came. */
  readonly onProgress: () => void
}

/**
 * The whole body as parsed JSON, undefined for an empty one. Throws NetworkError: "cut" for JSON that ends too early,
 * "protocol" for anything else.
 */
export async function readJson(
  call: CallDescription,
  answer: Answer,
  { maxBytes, onProgress }: JsonBounds,
): Promise<unknown> {
  const json = new PiecewiseJson()
  let length = 0
  try {
    for await (const chunk of answer.chunks) {
      length += chunk.length
      onProgress?.()
      if (length > maxBytes) {
        throw new NetworkError(call, 'protocol', `the answer is longer than ${maxBytes / 1024 / 1024} MiB`)
      }
      json.push(chunk)
      if (json.elements > mostElements) {
        throw new NetworkError(call, 'protocol', `the answer lists more than ${mostElements} entries`)
      }
    }
    return json.end()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Not kept as the cause: V8 quotes the text, which may hold presigned URLs.
    const type = answer.header('content-type') ?? 'no content type'
    // A proxy that loses the rest and closes in good order leaves half an answer.
    if (/\bjson\b/i.test(type)) throw new NetworkError(call, 'cut', 'the JSON of the answer is not whole')
    throw new NetworkError(
      call,
      'protocol',
      `the answer is not JSON (${answer.status}, ${type}); is the base URL right?`,
    )
  }
}

/** Success, whatever its body says, unless it is a page: that is a portal's in between. Throws NetworkError "protocol". */
export async function acceptAny(call: CallDescription, answer: Answer): Promise<void> {
  await drain(answer)
  if (!/^text\/html\b/i.test(answer.header('content-type') ?? '')) return
  throw new NetworkError(call, 'protocol', `answered with a page (${answer.status}); is the base URL right?`)
}

/** The error an unsuccessful answer stands for. `secrets` are blotted out wherever the service repeats them. */
export async function readError(
  call: CallDescription,
  answer: Answer,
  secrets: readonly string[],
  /** Epoch ms. */
  now: number,
): Promise<ApiError | NetworkError> {
  const { status } = answer
  if (status >= 300 && status < 400) {
    answer.discard()
    return new NetworkError(call, 'protocol', redirectMessage(status, answer.header('location')))
  }
  const retryAfterMs = retryAfterMsOf(answer.header('retry-after'), now)
  const { words, isServices } = await errorOf(answer)
  const message = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), words ?? statusText(status))
  return new ApiError(call, status, message, retryAfterMs, isServices)
}

/** Reads a body of no interest to its end, so that the connection can be used again. Never throws. */
export async function drain(answer: Answer): Promise<void> {
  // The status has been seen: what becomes of the body changes nothing.
  await readBytes(answer, errorBodyBytes).catch(() => undefined)
}

/** Says where to, without path and query: those may hold a signature. */
function redirectMessage(status: number, location: string | undefined): string {
  const origin = location !== undefined && URL.canParse(location) ? new URL(location).origin : 'elsewhere'
  return `${status} redirect to ${origin}, which is not followed; is the base URL right?`
}

/** The words of the body, and whether it may be the service's own at all: JSON, or nothing. */
async function errorOf(answer: Answer): Promise<{ words: string | undefined; isServices: boolean }> {
  try {
    const body = await readBytes(answer, errorBodyBytes)
    if (body?.length === 0) return { words: undefined, isServices: true }
    const parsed: unknown = JSON.parse(body === undefined ? '' : textOf([body]))
    return { words: wordsOf(parsed), isServices: true }
  } catch {
    // The status is the answer; its words are only help.
    return { words: undefined, isServices: !isHtml(answer) }
  }
}

function wordsOf(parsed: unknown): string | undefined {
  if (typeof parsed !== 'object' || parsed === null || !('errorMessage' in parsed)) return undefined
  const { errorMessage } = parsed
  if (typeof errorMessage !== 'string') return undefined
  // One line, and nothing a terminal would obey.
  const line = errorMessage.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return line === '' ? undefined : line.slice(0, longestErrorMessage)
}

function isHtml(answer: Answer): boolean {
  return /\bhtml\b/i.test(answer.header('content-type') ?? '')
}

async function readBytes(answer: Answer, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of answer.chunks) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

const statusTexts: Record<number, string> = {
  202: 'accepted, and not carried out yet',
  400: 'bad request',
  401: 'the API key was refused',
  403: 'forbidden',
  404: 'not found',
  408: 'request timeout',
  409: 'conflict',
  410: 'gone',
  413: 'too large',
  429: 'too many requests',
  500: 'internal error',
  501: 'not implemented',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
  507: 'out of storage',
}

function statusText(status: number): string {
  return statusTexts[status] ?? 'no reason given'
}
