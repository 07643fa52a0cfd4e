// Cells → CSV (RFC 4180): commas, CRLF, a header line first.

import { stringify } from 'csv-stringify/sync'

/** Absent and null values are empty cells; objects are written as JSON. */
export function csvOf(header: readonly string[], lines: readonly (readonly unknown[])[]): string {
  const cells = lines.map((line) => line.map(textOf))
  return stringify([[...header], ...cells], { record_delimiter: 'windows' })
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
