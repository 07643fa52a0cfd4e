// Which files are rows, by their mimetype or their name: without what reads them.

import { extname } from 'node:path'

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
