// The row format of a file, by its mimetype or name. The parsers are not imported here.

import { extname } from 'node:path'

export type RowFormat = 'csv' | 'json' | 'xlsx'

const formatsByMimetype: ReadonlyMap<string, RowFormat> = new Map([
  ['text/csv', 'csv'],
  ['application/json', 'json'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
])

/** The format of a mimetype; undefined if it is not of row files. */
export function rowFormatOfMimetype(mimetype: string): RowFormat | undefined {
  return formatsByMimetype.get(mimetype)
}

/** The format of a file name's extension; undefined if it is not of row files. */
export function rowFormatOfName(name: string): RowFormat | undefined {
  const extension = extname(name).slice(1).toLowerCase()
  return extension === 'csv' || extension === 'json' || extension === 'xlsx' ? extension : undefined
}
