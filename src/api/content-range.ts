// The Content-Range header (RFC 9110, 14.4).

/** Position of a response's bytes in the file. */
export interface ContentRange {
  readonly start: number
  /** One past the last byte; equal to `start` in a 416, whose header gives only the size. */
  readonly end: number
  readonly totalSize: number | undefined
}

/** Returns undefined for a missing header, and for any other than one range of bytes. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const match = /^\s*bytes\s+(?:(\d+)-(\d+)|\*)\/(\d+|\*)\s*$/i.exec(header ?? '')
  if (match === null) return undefined
  const [, first, last, size] = match
  const totalSize = size === '*' ? undefined : Number(size)
  if (first === undefined || last === undefined) return { start: 0, end: 0, totalSize }
  const range = { start: Number(first), end: Number(last) + 1, totalSize }
  return range.end > range.start ? range : undefined
}
