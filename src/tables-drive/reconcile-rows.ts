// A file of rows to be matched against a table, as a bank or a shop exports it: its columns as an input, and the answer as a
// table again. Pure.

import type { ReconcileInput, ReconcileResult } from '../api/table-types.ts'
import { csvOf } from '../rows/csv-write.ts'
import { RowsError, type Row } from '../rows/row.ts'

/** Columns for each match, behind the input's own. The reference service answers these keys; another may leave them open. */
const answers = [
  { column: 'asset name', key: 'asset_name' },
  { column: 'asset id', key: 'asset_id' },
  { column: 'score', key: 'match_score' },
  { column: 'why', key: 'match_reason' },
] as const

export interface RowsToMatch {
  readonly rows: readonly Row[]
  /** The table's field for a column, where it has another name there. */
  readonly fieldOf?: ReadonlyMap<string, string> | undefined
}

export interface MatchedRows {
  readonly header: readonly string[]
  readonly lines: readonly (readonly unknown[])[]
  /** Rows that got an asset. */
  readonly matched: number
}

/** Each column a list of values, beside open questions for what is to be told of each match. Throws RowsError where two columns are one field. */
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
  for (const { key } of answers) data[key] ??= rows.map(() => null)
  return { data }
}

/** The rows as they were, with what the service said of each behind them. */
export function matchedRows({ rows }: RowsToMatch, { data = {} }: ReconcileResult): MatchedRows {
  const columns = [...columnsOf(rows)]
  const told = answers.map(({ key }) => (Array.isArray(data[key]) ? (data[key] as unknown[]) : []))
  const lines = rows.map((row, at) => [
    ...columns.map((column) => row[column]),
    ...told.map((values) => values[at]),
  ])
  const [names = []] = told
  const taken = new Set(columns)
  const header = [...columns, ...answers.map(({ column }) => freeName(column, taken))]
  return { header, lines, matched: names.filter((name) => name !== null && name !== undefined).length }
}

/** CSV. */
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
