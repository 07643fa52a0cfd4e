// A local file of rows.

import { basename } from 'node:path'
import { rowFormatOfName } from '../rows/row-format.ts'
import { openRows, type FileRows } from '../tables-drive/file-rows.ts'
import { readLocal } from './read-local.ts'
import { UsageError } from './usage-error.ts'

/** `nameColumn` names the rows as assets. Throws UsageError for a file that is not rows, holds none, or has no such column. */
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
