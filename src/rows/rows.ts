// Files of rows read into plain objects: which format a file has, and one door to its reader. Knows no layer, no
// network and no disk: bytes in, rows out. Used by the service (documents named in a reconciliation) and the command line.

import { extname } from 'node:path'
import { parseCsvRows } from './csv.ts'
import { parseJsonRows } from './json.ts'
import type { Row } from './row.ts'
import { parseXlsxRows } from './xlsx.ts'

export type RowFormat = 'csv' | 'json' | 'xlsx'

const formatsByMimetype: ReadonlyMap<string, RowFormat> = new Map([
  ['text/csv', 'csv'],
  ['application/json', 'json'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
])

/** The format a mimetype stands for; undefined for everything that is not rows. */
export function rowFormatOfMimetype(mimetype: string): RowFormat | undefined {
  return formatsByMimetype.get(mimetype)
}

/** The format a file name's extension stands for; undefined for everything that is not rows. */
export function rowFormatOfName(name: string): RowFormat | undefined {
  const extension = extname(name).slice(1).toLowerCase()
  return extension === 'csv' || extension === 'json' || extension === 'xlsx' ? extension : undefined
}

const readers: Readonly<Record<RowFormat, (bytes: Uint8Array, maxRows: number) => Row[]>> = {
  csv: parseCsvRows,
  json: parseJsonRows,
  xlsx: parseXlsxRows,
}

/** Reads a whole file of rows. Throws RowsError where it is not what `format` says, TooManyRowsError as soon as that is known. */
export function parseRows(bytes: Uint8Array, format: RowFormat, maxRows: number = Infinity): Row[] {
  return readers[format](bytes, maxRows)
}
