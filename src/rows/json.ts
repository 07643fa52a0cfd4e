// JSON → rows: an array of objects, an object with exactly one such array, a single object, or one object per line (JSON Lines).

import { findInexactNumber } from '../exact-numbers.ts'
import { type Row, RowsError, TooManyRowsError, maxColumns } from './row.ts'
import { decodeText } from './text.ts'

/** Values of one file, counted by commas and opening brackets. A limit of bytes would not do: `{}` takes seventy in memory. */
const maxValues = 5_000_000

/** Rows of a JSON or JSON Lines file. Throws RowsError; above 5,000,000 values, or 16,384 names in one object, before parsing. */
export function parseJsonRows(bytes: Uint8Array, maxRows: number = Infinity): Row[] {
  const text = decodeText(bytes)
  checkValues(text)
  const inexact = findInexactNumber(text)
  if (inexact !== undefined)
    throw new RowsError(`the number ${inexact} would not be kept as it is: make it text`)
  const rows = rowsIn(parsed(text))
  if (rows === undefined) throw new RowsError('JSON rows must be objects: [{"column": value, …}, …]')
  if (rows.length > maxRows) throw new TooManyRowsError(maxRows)
  return rows
}

const quote = 0x22
const comma = 0x2c
const openingArray = 0x5b
const backslash = 0x5c
const closingArray = 0x5d
const openingObject = 0x7b
const closingObject = 0x7d

/** Checks the limits of values and names in the text, not its syntax. Throws RowsError. */
function checkValues(text: string): void {
  let values = 0
  /** By depth: number of names so far in an object, NaN in an array. */
  const names: number[] = []
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) isInString = !isInString
    else if (isInString) {
      if (unit === backslash) at++
    } else if (unit === openingArray || unit === openingObject) {
      values++
      names.push(unit === openingObject ? 1 : Number.NaN)
    } else if (unit === closingArray || unit === closingObject) names.pop()
    else if (unit === comma) {
      values++
      if (++names[names.length - 1]! > maxColumns)
        throw new RowsError(`an object has more than ${maxColumns} names`)
    }
    if (values > maxValues) throw new RowsError(`more than ${maxValues} values: split the file`)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const lines = objectLines(text)
    if (lines.length > 1) return parsedLines(lines)
    throw new RowsError('not JSON', { cause: error })
  }
}

/** The lines that are not empty; an empty list if one of them does not start with `{`. */
function objectLines(text: string): string[] {
  const lines: string[] = []
  for (let from = 0; from < text.length;) {
    const found = text.indexOf('\n', from)
    const end = found === -1 ? text.length : found
    const line = text.slice(from, end).trim()
    if (line !== '' && !line.startsWith('{')) return []
    if (line !== '') lines.push(line)
    from = end + 1
  }
  return lines
}

function parsedLines(lines: readonly string[]): unknown[] {
  return lines.map((line, at) => {
    try {
      return JSON.parse(line)
    } catch (error) {
      throw new RowsError(`line ${at + 1} is not JSON`, { cause: error })
    }
  })
}

function rowsIn(value: unknown): Row[] | undefined {
  if (Array.isArray(value)) return value.every(isRow) ? value : undefined
  if (!isRow(value)) return undefined
  const lists = Object.values(value).filter(
    (member): member is Row[] => Array.isArray(member) && member.length > 0 && member.every(isRow),
  )
  return lists.length === 1 && lists[0] !== undefined ? lists[0] : [value]
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
