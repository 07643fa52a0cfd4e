// Conversion of a file's rows into the items of a forward call: each row is an asset with a name (interface, "Forward item").

import type { ForwardItem } from './table-types.ts'

type Row = Readonly<Record<string, unknown>>

/** Columns that may hold an asset's name, best first; the default for `nameColumn`. */
const usualNameColumns = ['asset_name', 'name', 'Name']

/** Rows per forward call. A call succeeds or fails as a whole, and its body must stay far below any limit. */
export const forwardBatchRows = 500

/**
 * Returns one item per row. Its name is the row's cell in `nameColumn` (default: the first of `usualNameColumns`), or `label`
 * and the row's number if that is empty. Rows that are Forward items already are not wrapped again.
 */
export function forwardItemsOf(rows: readonly Row[], label: string, nameColumn?: string): ForwardItem[] {
  const columns = new Set(rows.flatMap((row) => Object.keys(row)))
  if (nameColumn === undefined && columns.size === 2 && rows.every(isForwardItem)) {
    return rows.map((row) => ({ assetName: String(row['asset_name']), rowData: row['row_data'] as Row }))
  }
  const column = nameColumn ?? usualNameColumns.find((name) => columns.has(name))
  return rows.map((row, index) => {
    const cell = column === undefined ? undefined : row[column]
    const name = typeof cell === 'string' || typeof cell === 'number' ? String(cell).trim() : ''
    return { assetName: name === '' ? `${label} ${index + 1}` : name, rowData: row }
  })
}

function isForwardItem({ asset_name: name, row_data: data }: Row): boolean {
  return typeof name === 'string' && typeof data === 'object' && data !== null && !Array.isArray(data)
}
