// The room that a project's tables take: text, and something for each row. The same for every engine, whose triggers
// are made of it once: what is released stays as it is.

/** Ids, times and what an index takes. */
const rowBytes = 100

export interface CountedText {
  readonly table: string
  readonly columns: readonly string[]
  /** SQL: the project of a row of that name. */
  readonly projectOf: (row: string) => string
}

const projectOfTable = (row: string): string => `(select project_id from tables where id = ${row}.table_id)`

export const countedTexts: readonly CountedText[] = [
  { table: 'tables', columns: ['name', 'settings'], projectOf: (row) => `${row}.project_id` },
  { table: 'assets', columns: ['name', 'row_data'], projectOf: projectOfTable },
  { table: 'runs', columns: ['input', 'data', 'reasoning'], projectOf: projectOfTable },
]

/** SQL: how many bytes a row of that name counts; `lengthOf` is the engine's for a text. */
export function bytesOf({ columns }: CountedText, row: string, lengthOf: (text: string) => string): string {
  return `(${rowBytes} + ${columns.map((column) => `coalesce(${lengthOf(`${row}.${column}`)}, 0)`).join(' + ')})`
}
