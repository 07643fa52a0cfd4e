// Rows of tables count towards the quota of their project: the bytes of some text columns, and a constant for each row. The
// triggers of both engines are made from this list in a migration, so an entry never changes after its release.

/** Bytes that each row counts besides its text: ids, times and index entries. */
const rowBytes = 100

export interface CountedText {
  readonly table: string
  readonly columns: readonly string[]
  /** SQL for the project id of a row; `row` is its alias in the query. */
  readonly projectOf: (row: string) => string
}

const projectOfTable = (row: string): string => `(select project_id from tables where id = ${row}.table_id)`

export const countedTexts: readonly CountedText[] = [
  { table: 'tables', columns: ['name', 'settings'], projectOf: (row) => `${row}.project_id` },
  { table: 'assets', columns: ['name', 'row_data'], projectOf: projectOfTable },
  { table: 'runs', columns: ['input', 'data', 'reasoning'], projectOf: projectOfTable },
]

/** SQL for the bytes that the row of alias `row` counts; `lengthOf` gives the engine's SQL for the bytes of a text. */
export function bytesOf({ columns }: CountedText, row: string, lengthOf: (text: string) => string): string {
  return `(${rowBytes} + ${columns.map((column) => `coalesce(${lengthOf(`${row}.${column}`)}, 0)`).join(' + ')})`
}
