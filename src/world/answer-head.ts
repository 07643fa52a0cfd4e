// The head of an HTTP/1.1 response: its status, its headers, and how long its body is (RFC 9112).

/** Length of a body: in bytes, in chunks that tell their lengths, or up to the end of the connection. */
export type BodyLength = number | 'chunked' | 'until-close'

export interface AnswerHead {
  readonly status: number
  /** Values by lower-case name, in their order. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly bodyLength: BodyLength
  /** How long the connection may be kept for another request (ms): 0 if it may not, undefined if the server does not say. */
  readonly keptMs: number | undefined
}

/** A response that is not HTTP. Its code is one of the parser of undici and Node.js. */
export class AnswerHeadError extends Error {
  override readonly name = 'AnswerHeadError'
  readonly code = 'HPE_INVALID'
}

const headEnd = '\r\n\r\n'
const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: |$)/
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/s

/**
 * Returns the first head in `received`, and how many bytes it takes; undefined if its end is not here yet. Throws
 * AnswerHeadError.
 */
export function headIn(received: Buffer): { readonly head: AnswerHead; readonly bytes: number } | undefined {
  const end = received.indexOf(headEnd)
  if (end === -1) {
    const start = received.toString('latin1', 0, 5)
    if (!'HTTP/'.startsWith(start)) throw new AnswerHeadError('it does not begin with HTTP/')
    return undefined
  }
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const [, minor, status] = statusLine.exec(first) ?? []
  if (status === undefined) throw new AnswerHeadError('it does not begin with a status')
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name === undefined || value === undefined) throw new AnswerHeadError('a header has no name')
    const values = headers.get(name.toLowerCase())
    if (values === undefined) headers.set(name.toLowerCase(), [value])
    else values.push(value)
  }
  const head = {
    status: Number(status),
    headers,
    bodyLength: bodyLengthOf(Number(status), headers),
    keptMs: keptMsOf(headers, minor === '1'),
  }
  return { head, bytes: end + headEnd.length }
}

function bodyLengthOf(status: number, headers: AnswerHead['headers']): BodyLength {
  if (status < 200 || status === 204 || status === 304) return 0
  const codings = headers.get('transfer-encoding')
  if (codings !== undefined) {
    if (codings.join(',').trim().toLowerCase() === 'chunked') return 'chunked'
    throw new AnswerHeadError('its transfer coding is unknown')
  }
  const lengths = new Set(headers.get('content-length')?.flatMap((value) => value.split(/\s*,\s*/)))
  const [length] = lengths
  if (length === undefined) return 'until-close'
  const bytes = /^\d+$/.test(length) ? Number(length) : NaN
  if (lengths.size > 1 || !Number.isSafeInteger(bytes)) throw new AnswerHeadError('its length is no number')
  return bytes
}

function keptMsOf(headers: AnswerHead['headers'], isKeptUnasked: boolean): number | undefined {
  const connection = headers.get('connection')?.join(',').toLowerCase() ?? ''
  if (connection.includes('close') || (!isKeptUnasked && !connection.includes('keep-alive'))) return 0
  const [, seconds] = /timeout=(\d+)/i.exec(headers.get('keep-alive')?.[0] ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
