// CSV → rows. The separator is comma, semicolon, tab or bar: the one in a first line `sep=;`, else the most frequent in the header.

import { CsvError, parse } from 'csv-parse/sync'
import { type Row, RowsError, lineCounter, maxCells, rowsOfCells, tooManyCells } from './row.ts'
import { decodeText } from './text.ts'

const separators = [',', ';', '\t', '|'] as const

/** Rows of a CSV file with a header line; every value is text. Throws RowsError. */
export function parseCsvRows(bytes: Uint8Array, maxRows: number = Infinity): Row[] {
  const { separator, text } = separated(decodeText(bytes))
  checkCells(text, separator)
  let lines: string[][]
  const count = lineCounter(maxRows)
  try {
    lines = parse(text, {
      delimiter: separator,
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (line: string[]) => {
        count(line)
        return line
      },
    })
  } catch (error) {
    if (error instanceof CsvError) throw new RowsError(`not CSV: ${error.message}`, { cause: error })
    throw error
  }
  checkWidths(lines, separator)
  return rowsOfCells(lines, maxRows)
}

const quote = 0x22

/** Limits the cells before parsing, because a line of separators alone is many empty cells. Throws RowsError. */
function checkCells(text: string, separator: string): void {
  const separatorUnit = separator.charCodeAt(0)
  let cells = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) isQuoted = !isQuoted
    else if (unit === separatorUnit && !isQuoted && ++cells > maxCells) throw tooManyCells()
  }
}

/** Finds the separator, and removes a first line `sep=…` from the text. */
function separated(text: string): { separator: string; text: string } {
  const declared = /^\uFEFF?sep=([,;\t|])\r?\n/i.exec(text)
  if (declared?.[1] === undefined) return { separator: separatorOf(text), text }
  return { separator: declared[1], text: text.slice(declared[0].length) }
}

/** Refuses a filled cell past the header: it is usually the rest of a value with an unquoted separator, such as `1,50`. */
function checkWidths(lines: readonly (readonly string[])[], separator: string): void {
  const filled = lines.filter((line) => line.some(hasText))
  const width = filled[0]?.length ?? 0
  for (const [at, line] of filled.entries())
    if (line.length > width && line.slice(width).some(hasText))
      throw new RowsError(
        `row ${at} (${(line[0] ?? '').slice(0, 40)}) has ${line.length} cells, and the header ${width}: quotes belong around a value that holds a ${separator === '\t' ? 'tab' : separator}`,
      )
}

function hasText(cell: string): boolean {
  return cell.trim() !== ''
}

function separatorOf(text: string): string {
  const header = headerLine(text)
  let best: string = separators[0]
  let most = 0
  for (const separator of separators) {
    const count = header.split(separator).length - 1
    if (count > most) {
      best = separator
      most = count
    }
  }
  return best
}

/** The first line that is not blank. Quoted cells in it are emptied, because separators and line ends in them do not count. */
function headerLine(text: string): string {
  const start = text.slice(0, 65_536).trimStart()
  return start.replaceAll(/"(?:[^"]|"")*"/g, '""').split(/\r\n|\r|\n/, 1)[0] ?? ''
}
