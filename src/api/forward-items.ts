// From the rows of a file to what forward sends: each row an asset with a name (interface, "Forward item").

import type { ForwardItem } from './table-types.ts'

type Row = Readonly<Record<string, unknown>>

/** Columns that name an asset where nobody says otherwise, best first. */
const usualNameColumns = ['asset_name', 'name', 'Name']

/** How many rows one call takes: each is taken whole or not at all, and far below any bound on a body. */
export const forwardBatchRows = 500

/**
 * One item per row. Its name is the cell of `nameColumn` (where absent: of a column usually so called), else `label` and the
 * row's number. Rows that are Forward items already stay as they are.
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
