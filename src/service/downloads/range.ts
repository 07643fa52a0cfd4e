// The Range header (RFC 9110 §14): single byte ranges. Several ranges, other units and invalid values are ignored, as allowed.

/** First and last byte to send, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Returns undefined if the whole content is to be sent. */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.replaceAll(/[ \t]/g, '') ?? '')
  if (match === null) return undefined
  const [, first = '', last = ''] = match
  if (first === '') {
    if (last === '') return undefined
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? Infinity : Number(last)
  // An inverted range is invalid, and ignored: RFC 9110 §14.1.2.
  if (end < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) }
}
