// Parses files of rows in any format: bytes in, plain objects out, without network or disk. Used by the service for documents of
// a reconciliation, by the command line, and for dropped files.

import { parseCsvRows } from './csv.ts'
import { parseJsonRows } from './json.ts'
import type { RowFormat } from './row-format.ts'
import type { Row } from './row.ts'
import { parseXlsxRows } from './xlsx.ts'

const readers: Readonly<Record<RowFormat, (bytes: Uint8Array, maxRows: number) => Row[]>> = {
  csv: parseCsvRows,
  json: parseJsonRows,
  xlsx: parseXlsxRows,
}

/** Parses a whole file. Throws RowsError if it is not valid in `format`, TooManyRowsError as soon as it has more than `maxRows`. */
export function parseRows(bytes: Uint8Array, format: RowFormat, maxRows: number = Infinity): Row[] {
  return readers[format](bytes, maxRows)
}
