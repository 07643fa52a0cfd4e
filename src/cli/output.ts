// Printing of results on stdout: tables for people, JSON for scripts. All else goes to stderr.

import { printable, printableJson } from '../printable.ts'

/** Prints a value as indented JSON. */
export function printJson(value: unknown): void {
  console.log(jsonText(value))
}

/** Returns the JSON that `printJson` prints. */
export function jsonText(value: unknown): string {
  return printableJson(JSON.stringify(value, undefined, 2))
}

/** Prints `value` as one line of JSON with `--json`, else `text`. */
export function print(options: { readonly json?: boolean }, value: unknown, text: string): void {
  if (options.json === true) console.log(printableJson(JSON.stringify(value)))
  else if (text !== '') console.log(text)
}

export interface JsonOption {
  readonly json?: boolean
}

/** For `.option(…)`: flag and description of `--json`, for commands that do not describe their JSON more closely. */
export const jsonOption: readonly [string, string] = ['--json', 'print JSON: what was done, or {error}']

/** Does the work. With `--json`, prints its result; if it throws, prints `{"error": …}` and throws on. */
export async function withJsonAnswer<T>({ json }: JsonOption, work: () => Promise<T>): Promise<T> {
  try {
    const value = await work()
    if (json === true) printJson(value)
    return value
  } catch (error) {
    if (json === true && error instanceof Error) printJson({ error: error.message })
    throw error
  }
}

/** Prints rows in columns; those with a number in them are aligned right. Prints nothing, not even the header, if there are no rows. */
export function printTable(header: readonly string[], rows: readonly (readonly Cell[])[]): void {
  if (rows.length === 0) return
  const lines = [header, ...rows].map((row) => row.map(cellText))
  const isNumeric = header.map((_, column) => rows.some((row) => typeof row[column] === 'number'))
  const widths = header.map((_, column) => widest(lines.map((line) => line[column] ?? '')))
  for (const line of lines) {
    const cells = line.map((text, column) => {
      const padding = ' '.repeat((widths[column] ?? 0) - widthOf(text))
      return isNumeric[column] === true ? padding + text : text + padding
    })
    console.log(cells.join('  ').trimEnd())
  }
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, widthOf(text)), 0)
}

// Created at first use, because that takes 30 ms of CPU time.
let graphemes: Intl.Segmenter | undefined

/** Returns the number of graphemes: a combining accent adds none. */
function widthOf(text: string): number {
  // eslint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(text)) return text.length
  graphemes ??= new Intl.Segmenter()
  return [...graphemes.segment(text)].length
}

export type Cell = string | number | undefined

function cellText(cell: Cell): string {
  return cell === undefined ? '-' : printable(String(cell))
}
