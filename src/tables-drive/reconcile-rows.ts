// Conversion of a file of rows, such as a bank export, to the input of a reconciliation, and of its result back to rows. Pure
// functions.

import type { ReconcileInput, ReconcileResult } from '../api/table-types.ts'
import { csvOf } from '../rows/csv-write.ts'
import { RowsError, type Row } from '../rows/row.ts'

/** Columns added for the match of each row, by the key in the result. Another service than ours may leave them empty. */
const matchColumns = [
  { column: 'asset name', key: 'asset_name' },
  { column: 'asset id', key: 'asset_id' },
  { column: 'score', key: 'match_score' },
  { column: 'why', key: 'match_reason' },
] as const

export interface RowsToMatch {
  readonly rows: readonly Row[]
  /** Column name → field of the table, for columns whose field has another name. */
  readonly fieldOf?: ReadonlyMap<string, string> | undefined
}

export interface MatchedRows {
  readonly header: readonly string[]
  readonly lines: readonly (readonly unknown[])[]
  /** Number of rows with a matching asset. */
  readonly matched: number
}

/** Makes each column a list of values, and adds empty lists for the match. Throws RowsError if two columns have the same field. */
export function inputOfRows({ rows, fieldOf }: RowsToMatch): ReconcileInput {
  const data: Record<string, unknown[]> = {}
  for (const column of columnsOf(rows)) {
    const field = fieldOf?.get(column) ?? column
    if (Object.hasOwn(data, field)) throw new RowsError(`two columns are compared with the field "${field}"`)
    data[field] = rows.map((row) => row[column] ?? null)
  }
  for (const column of fieldOf?.keys() ?? [])
    if (!columnsOf(rows).has(column))
      throw new RowsError(`it has no column "${column}"; it has ${[...columnsOf(rows)].join(', ')}`)
  // A result has only the keys of its input.
  for (const { key } of matchColumns) data[key] ??= rows.map(() => null)
  return { data }
}

/** Returns the rows with the match of each in the columns after them. */
export function matchedRows({ rows }: RowsToMatch, { data = {} }: ReconcileResult): MatchedRows {
  const columns = [...columnsOf(rows)]
  const matches = matchColumns.map(({ key }) => (Array.isArray(data[key]) ? (data[key] as unknown[]) : []))
  const lines = rows.map((row, at) => [
    ...columns.map((column) => row[column]),
    ...matches.map((values) => values[at]),
  ])
  const [names = []] = matches
  const taken = new Set(columns)
  const header = [...columns, ...matchColumns.map(({ column }) => freeName(column, taken))]
  return { header, lines, matched: names.filter((name) => name !== null && name !== undefined).length }
}

/** Returns CSV. */
export function textOfMatched({ header, lines }: MatchedRows): string {
  return csvOf(header, lines)
}

function columnsOf(rows: readonly Row[]): Set<string> {
  return new Set(rows.flatMap((row) => Object.keys(row)))
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted
  for (let copy = 2; taken.has(name); copy++) name = `${wanted} (${copy})`
  return name
}
