// Reads the cells of one sheet, and the strings that cells share, from the XML parts of an XLSX file.

import { isoOfSerial } from './xlsx-dates.ts'
import { RowsError, maxCells, maxColumns, tooManyCells } from './row.ts'
import { readXml } from './xml.ts'

export type Cell = string | number | boolean | null

export interface SheetContext {
  readonly sharedStrings: readonly string[]
  /** Indexes of the cell styles that show a date. */
  readonly dateStyles: ReadonlySet<number>
  readonly date1904: boolean
  /** Called with each line that has a cell; it may throw to stop the reading. */
  readonly count: (line: readonly Cell[]) => void
}

/** Limit of the rows of a sheet: that of Excel. */
const maxSheetRows = 1_048_576

/** Limit of the characters of all cells together. A small file can exceed it, because cells refer to shared strings. */
const maxCharacters = 64 * 1024 * 1024

/** Lines that have a cell, in the sheet's order. Each ends with its last cell, and has holes for empty ones. Throws RowsError above
 * 64 Mi characters, 5,000,000 cells (with empty ones), and 1,048,576 rows. */
export function readSheetLines(xml: string, context: SheetContext): Cell[][] {
  const lines: Cell[][] = []
  let line: Cell[] = []
  let column = 0
  let type = ''
  let style = -1
  let text = ''
  let isInValue = false
  let phoneticDepth = 0
  let characters = 0
  let rows = 0
  let cells = 0
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') {
        if (++rows > maxSheetRows) throw new RowsError(`more than ${maxSheetRows} rows: split the file`)
        line = []
        column = 0
      } else if (name === 'c') {
        if (++cells > maxCells) throw tooManyCells()
        const reference = attributes.get('r')
        column = reference === undefined ? column + 1 : columnOf(reference)
        type = attributes.get('t') ?? 'n'
        style = Number(attributes.get('s') ?? -1)
        text = ''
      } else if (name === 'rPh') {
        phoneticDepth++
      } else if (name === 'v' || name === 't') {
        isInValue = phoneticDepth === 0
      }
    },
    text(content) {
      if (isInValue) text += content
    },
    close(name) {
      if (name === 'v' || name === 't') isInValue = false
      if (name === 'rPh') phoneticDepth--
      if (name === 'c' && column >= 1 && column <= maxColumns) {
        const value = cellValue(text, type, context.dateStyles.has(style), context)
        if (typeof value === 'string' && (characters += value.length) > maxCharacters)
          throw new RowsError(`more than ${maxCharacters} characters: split the file`)
        // The array stays sparse: a line with one cell far to the right takes the memory of one.
        if (value !== null) line[column - 1] = value
      }
      if (name !== 'row' || line.length === 0) return
      context.count(line)
      lines.push(line)
    },
  })
  return lines
}

/** The strings that cells refer to by index: rich text without formatting and without phonetic reading aids. */
export function readSharedStrings(xml: string | undefined): string[] {
  const strings: string[] = []
  if (xml === undefined) return strings
  let text = ''
  let isInText = false
  let phoneticDepth = 0
  readXml(xml, {
    open(name) {
      if (name === 'si') text = ''
      if (name === 'rPh') phoneticDepth++
      if (name === 't') isInText = phoneticDepth === 0
    },
    text(content) {
      if (isInText) text += content
    },
    close(name) {
      if (name === 't') isInText = false
      if (name === 'rPh') phoneticDepth--
      if (name === 'si' && strings.push(text) > maxCells) throw tooManyCells()
    },
  })
  return strings
}

/** `type`: shared string, formula's or inline text, ISO date, boolean, error; else a number. */
function cellValue(text: string, type: string, isDate: boolean, context: SheetContext): Cell {
  if (text === '') return null
  switch (type) {
    case 's':
      return context.sharedStrings[Number(text)] ?? null
    case 'str':
    case 'inlineStr':
    case 'd':
      return text
    case 'b':
      return text === '1'
    case 'e':
      return null
    default: {
      const number = Number(text)
      if (Number.isNaN(number)) return text
      return isDate ? isoOfSerial(number, context.date1904) : number
    }
  }
}

function columnOf(reference: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? '')
    column = column * 26 + letter.charCodeAt(0) - 64
  return column
}
