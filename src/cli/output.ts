// How commands print: tables for people, JSON for scripts, a progress line for a waiting terminal. Results go to stdout,
// everything else to stderr.

import { formatBytes } from './durations.ts'

/** One value as JSON, for scripts. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, undefined, 2))
}

/** One or the other, on one line where it is JSON. */
export function print(options: { readonly json?: boolean }, value: unknown, text: string): void {
  if (options.json === true) console.log(JSON.stringify(value))
  else if (text !== '') console.log(text)
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

const graphemes = new Intl.Segmenter()

/** Characters as people count them, which an accent typed apart does not add to. */
function widthOf(text: string): number {
  // eslint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(text) ? text.length : [...graphemes.segment(text)].length
}

export type Cell = string | number | undefined

function cellText(cell: Cell): string {
  return cell === undefined ? '-' : printable(String(cell))
}

/** A name without what a terminal would obey: control characters become `?`, as `ls` shows them. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?')
}

export interface Progress {
  /** How far it is, in bytes or pieces. */
  update(done: number): void
  /** Takes the line away. */
  end(): void
}

export interface ProgressOptions {
  readonly total?: number | undefined
  /** How a number is written. Default: bytes. */
  readonly format?: (count: number) => string
}

const redrawMs = 100

/** A line on stderr that is drawn anew; nothing where stderr is no terminal. */
export function startProgress(label: string, options: ProgressOptions = {}): Progress {
  if (!process.stderr.isTTY) return { update() {}, end() {} }
  const { total, format = formatBytes } = options
  let drawnAt = 0
  return {
    update(done) {
      const now = performance.now()
      if (now - drawnAt < redrawMs) return
      drawnAt = now
      const percent = total === undefined || total === 0 ? '' : ` ${Math.floor((100 * done) / total)} %`
      const whole = total === undefined ? '' : ` of ${format(total)}`
      process.stderr.write(`\r\u001b[K${printable(label)}  ${format(done)}${whole}${percent}`)
    },
    end() {
      if (drawnAt > 0) process.stderr.write('\r\u001b[K')
    },
  }
}
