// The type of a row, the errors of row files, and the conversion of cells below a header line to rows.

import { ExpectedError } from '../expected-error.ts'

/** Column name → value. Empty cells are null. Values of CSV are text, of XLSX text, numbers and booleans, of JSON any. */
export type Row = Readonly<Record<string, unknown>>

/** The file cannot be read into rows. The message is one line, without the file's name. */
export class RowsError extends ExpectedError {
  override readonly name = 'RowsError'
}

/** The file has more rows than the caller allows. */
export class TooManyRowsError extends RowsError {
  constructor(maxRows: number) {
    super(`more than ${maxRows} rows: split the file`)
  }
}

/** Limit of the cells of one file. Empty ones count, because each row has one for every column of the header. */
export const maxCells = 5_000_000
/** Limit of the columns of one file: that of Excel. */
export const maxColumns = 16_384

/**
 * Makes rows of cells whose first non-empty line is the header. Skips empty lines, and cells past the header: in a sheet they are
 * notes beside the table. A column without a name is called `column 3`, a repeated name gets a number: `amount (2)`. Throws
 * RowsError without a header, above 16,384 columns and above 5,000,000 cells, TooManyRowsError above `maxRows`.
 */
export function rowsOfCells(lines: Iterable<readonly unknown[]>, maxRows: number = Infinity): Row[] {
  let columns: readonly string[] | undefined
  const rows: Row[] = []
  for (const line of lines) {
    if (columns === undefined) {
      if (!line.every(isBlank)) columns = columnNames(line)
      continue
    }
    // Not `line.every`: a line may have thousands of holes past the header.
    if (columns.every((_, at) => isBlank(line[at]))) continue
    if (rows.length === maxRows) throw new TooManyRowsError(maxRows)
    if (columns.length * (rows.length + 1) > maxCells) {
      throw tooManyCells()
    }
    rows.push(Object.fromEntries(columns.map((column, at) => [column, isBlank(line[at]) ? null : line[at]])))
  }
  if (columns === undefined) throw new RowsError('the file has no header line')
  return rows
}

export function tooManyCells(): RowsError {
  return new RowsError(`more than ${maxCells} cells: split the file`)
}

/** Returns a function to call with each parsed line, header included, so that parsing stops early: it throws TooManyRowsError. */
export function lineCounter(maxRows: number): (line: readonly unknown[]) => void {
  let lines = 0
  return (line) => {
    if (line.some((cell) => !isBlank(cell)) && ++lines > maxRows + 1) throw new TooManyRowsError(maxRows)
  }
}

function columnNames(header: readonly unknown[]): string[] {
  if (header.length > maxColumns) throw new RowsError(`more than ${maxColumns} columns`)
  const names = new Set<string>()
  const copies = new Map<string, number>()
  for (let at = 0; at < header.length; at++) {
    const wanted = isBlank(header[at]) ? `column ${at + 1}` : String(header[at]).trim()
    let copy = copies.get(wanted) ?? 1
    const name = (): string => (copy === 1 ? wanted : `${wanted} (${copy})`)
    while (names.has(name())) copy++
    copies.set(wanted, copy + 1)
    names.add(name())
  }
  return [...names]
}

function isBlank(cell: unknown): boolean {
  return cell === undefined || cell === null || (typeof cell === 'string' && cell.trim() === '')
}
