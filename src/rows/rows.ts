// Files of rows read into plain objects: one door to the readers of the formats. Knows no layer, no
// network and no disk: bytes in, rows out. Used by the service (documents named in a reconciliation) and the command line.

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

/** Reads a whole file of rows. Throws RowsError where it is not what `format` says, TooManyRowsError as soon as that is known. */
export function parseRows(bytes: Uint8Array, format: RowFormat, maxRows: number = Infinity): Row[] {
  return readers[format](bytes, maxRows)
}
