// Reads a local file of rows (CSV, JSON, XLSX).

import { basename } from 'node:path'
import { rowFormatOfName } from '../rows/row-format.ts'
import { openRows, type FileRows } from '../tables-drive/file-rows.ts'
import { readLocal } from './read-local.ts'
import { UsageError } from './usage-error.ts'

/** The asset of each row is named by its `nameColumn`. Throws UsageError if the file has no rows, or no such column. */
export async function readRows(
  file: string,
  nameColumn: string | undefined,
  signal: AbortSignal,
): Promise<FileRows> {
  if (rowFormatOfName(file) === undefined)
    throw new UsageError(`${file}: rows come from a .csv, .json or .xlsx file`)
  const bytes = await readLocal(file)
  try {
    return await openRows({ name: basename(file), bytes, nameColumn }, signal)
  } catch (error) {
    if (error instanceof Error && error.name === 'RowsError')
      throw new UsageError(`${file}: ${error.message}`)
    throw error
  }
}
