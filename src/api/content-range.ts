// The Content-Range header (RFC 9110, 14.4). Pure text.

/** Where the bytes of an answer lie in the file. */
export interface ContentRange {
  readonly start: number
  /** One past the last byte; equal to `start` where a range was refused and only the size is told. */
  readonly end: number
  readonly totalSize: number | undefined
}

/** Undefined for an absent header and for anything but one range of bytes. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const match = /^\s*bytes\s+(?:(\d+)-(\d+)|\*)\/(\d+|\*)\s*$/i.exec(header ?? '')
  if (match === null) return undefined
  const [, first, last, size] = match
  const totalSize = size === '*' ? undefined : Number(size)
  if (first === undefined || last === undefined) return { start: 0, end: 0, totalSize }
  const range = { start: Number(first), end: Number(last) + 1, totalSize }
  return range.end > range.start ? range : undefined
}
