// Reads the body of a response into memory, up to a limit: JSON, or the message of an error.

import { ApiError, NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import { PiecewiseJson, textOf } from './piecewise-json.ts'
import { retryAfterMsOf } from './retry.ts'
import type { Answer } from '../world/transport.ts'

const errorBodyBytes = 64 * 1024
const longestErrorMessage = 500

/** Limit of the elements in all lists of one response, so that an endless listing does not fill the memory. */
const mostElements = 2_000_000

export interface JsonBounds {
  readonly maxBytes: number
  /** Called whenever a piece of the body has come. */
  readonly onProgress: () => void
}

/**
 * Returns the whole body as parsed JSON, undefined for an empty one. Throws NetworkError: "cut" for JSON that ends too early,
 * "protocol" for a body that is too long or not JSON.
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
    // The SyntaxError is not set as `cause`: V8 quotes the text in it, which may contain presigned URLs.
    const type = answer.header('content-type') ?? 'no content type'
    // JSON that a proxy cut short and closed in good order.
    if (/\bjson\b/i.test(type)) throw new NetworkError(call, 'cut', 'the JSON of the answer is not whole')
    throw new NetworkError(
      call,
      'protocol',
      `the answer is not JSON (${answer.status}, ${type}); is the base URL right?`,
    )
  }
}

/** Reads and ignores the body of a success. Throws NetworkError "protocol" for HTML, which a captive portal sent. */
export async function acceptAny(call: CallDescription, answer: Answer): Promise<void> {
  await drain(answer)
  if (!/^text\/html\b/i.test(answer.header('content-type') ?? '')) return
  throw new NetworkError(call, 'protocol', `answered with a page (${answer.status}); is the base URL right?`)
}

/** Returns the error for an unsuccessful response. `secrets` are removed from the service's message. */
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
  const { text, isFromService } = await errorOf(answer)
  const message = secrets.reduce((line, secret) => line.replaceAll(secret, '…'), text ?? statusText(status))
  return new ApiError(call, status, message, retryAfterMs, isFromService)
}

/** Reads and ignores up to 64 KiB of body, so that the connection can be used again. Never throws. */
export async function drain(answer: Answer): Promise<void> {
  // Ignored: the caller decides by the status alone.
  await readBytes(answer, errorBodyBytes).catch(() => undefined)
}

/** Returns a message with the target's origin only: path and query may hold a signature. */
function redirectMessage(status: number, location: string | undefined): string {
  const origin = location !== undefined && URL.canParse(location) ? new URL(location).origin : 'elsewhere'
  return `${status} redirect to ${origin}, which is not followed; is the base URL right?`
}

/** Returns the message in the body, and if the service itself may have sent it: anything but HTML. */
async function errorOf(answer: Answer): Promise<{ text: string | undefined; isFromService: boolean }> {
  try {
    const body = await readBytes(answer, errorBodyBytes)
    if (body?.length === 0) return { text: undefined, isFromService: true }
    // A body beyond the limit is undefined, and fails to parse.
    const parsed: unknown = JSON.parse(body === undefined ? '' : textOf([body]))
    return { text: messageIn(parsed), isFromService: true }
  } catch {
    // Ignored: the status is known, and a message only adds to it.
    return { text: undefined, isFromService: !isHtml(answer) }
  }
}

function messageIn(parsed: unknown): string | undefined {
  if (typeof parsed !== 'object' || parsed === null || !('errorMessage' in parsed)) return undefined
  const { errorMessage } = parsed
  if (typeof errorMessage !== 'string') return undefined
  // One line without control characters.
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
