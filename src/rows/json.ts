// JSON → rows: an array of objects, an object holding exactly one such array, a single object, or one object per line.

import { findInexactNumber } from '../exact-numbers.ts'
import { type Row, RowsError, TooManyRowsError } from './row.ts'
import { decodeText } from './text.ts'

/** Rows of a JSON or JSON Lines file. Throws RowsError. */
export function parseJsonRows(bytes: Uint8Array, maxRows: number = Infinity): Row[] {
  const text = decodeText(bytes)
  const inexact = findInexactNumber(text)
  if (inexact !== undefined)
    throw new RowsError(`the number ${inexact} would not be kept as it is: make it text`)
  const rows = rowsIn(parsed(text))
  if (rows === undefined) throw new RowsError('JSON rows must be objects: [{"column": value, …}, …]')
  if (rows.length > maxRows) throw new TooManyRowsError(maxRows)
  return rows
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length > 1 && lines.every((line) => line.trimStart().startsWith('{'))) return parsedLines(lines)
    throw new RowsError('not JSON', { cause: error })
  }
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
