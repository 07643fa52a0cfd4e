// How commands print: tables for people, JSON for scripts. Results go to stdout, everything else to stderr.

import { printable, printableJson } from '../printable.ts'

/** One value as JSON, for scripts. */
export function printJson(value: unknown): void {
  console.log(jsonText(value))
}

/** As `printJson` prints it. */
export function jsonText(value: unknown): string {
  return printableJson(JSON.stringify(value, undefined, 2))
}

/** Prints `value` as one line of JSON, or `text`, whichever the command was asked for. */
export function print(options: { readonly json?: boolean }, value: unknown, text: string): void {
  if (options.json === true) console.log(printableJson(JSON.stringify(value)))
  else if (text !== '') console.log(text)
}

export interface JsonOption {
  readonly json?: boolean
}

/** Flag and description of `--json`, for commands whose JSON needs no words of its own. */
export const jsonOption: readonly [string, string] = ['--json', 'print JSON: what was done, or {error}']

/** With `--json` a command answers with one value, also where it fails: `{"error": …}`. */
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

/** Rows in columns; numbers stand on the right. Says nothing for no rows. */
export function printTable(header: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const [first] = rows
  if (first === undefined) return
  const lines = [header, ...rows].map((row) => row.map(cellText))
  const widths = header.map((_, column) => widest(lines.map((line) => line[column] ?? '')))
  for (const line of lines) {
    const cells = line.map((text, column) => {
      const padding = ' '.repeat((widths[column] ?? 0) - widthOf(text))
      return typeof first[column] === 'number' ? padding + text : text + padding
    })
    console.log(cells.join('  ').trimEnd())
  }
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, widthOf(text)), 0)
}

// Made when it is first needed: it costs 30 ms of processor.
let graphemes: Intl.Segmenter | undefined

/** Characters as people count them, which an accent typed apart does not add to. */
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
