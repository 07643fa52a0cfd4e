// CSV → rows. The separator is the one the header line uses: comma, semicolon, tab or bar.

import { CsvError, parse } from 'csv-parse/sync'
import { type Row, RowsError, lineCounter, rowsOfCells } from './row.ts'
import { decodeText } from './text.ts'

const separators = [',', ';', '\t', '|'] as const

/** Rows of a CSV file with a header line; every value is text. Throws RowsError. */
export function parseCsvRows(bytes: Uint8Array, maxRows: number = Infinity): Row[] {
  const text = decodeText(bytes)
  let lines: string[][]
  const count = lineCounter(maxRows)
  try {
    lines = parse(text, {
      delimiter: separatorOf(text),
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
  return rowsOfCells(lines, maxRows)
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

// Quoted cells may hold separators and line ends: they are taken out before anything is counted.
function headerLine(text: string): string {
  const start = text.slice(0, 65_536).trimStart()
  return start.replaceAll(/"(?:[^"]|"")*"/g, '""').split(/\r\n|\r|\n/, 1)[0] ?? ''
}
