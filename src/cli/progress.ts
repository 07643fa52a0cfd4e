// Progress of a command, on stderr: on a terminal one line that is redrawn, else a plain line every ten seconds, and nothing
// with --quiet. Only this file uses ora.

import type { Ora } from 'ora'
import { formatBytes } from '../amounts.ts'
import { printable } from '../printable.ts'
import { plainText, type ProgressState, progressText } from './progress-text.ts'

export interface Progress {
  /** Adds to the total; negative if less has to be done. */
  expect(count: number): void
  /** Adds to the amount that is done; negative if that has to be done again. */
  add(count: number): void
  set(done: number, total: number | undefined): void
  /** Sets the text behind the figures. */
  setNote(note: string): void
  /** Prints a line about a failure above the progress line, also with --quiet. */
  printLine(line: string): void
  /** Calls `write`, which prints to the terminal, with the progress line moved out of its way. */
  printAbove(write: () => void): void
  /** Removes the progress line. */
  end(): void
}

export interface ProgressOptions {
  readonly total?: number | undefined
  /** Formats amounts. Default: as bytes. */
  readonly format?: (count: number) => string
  readonly isQuiet?: boolean | undefined
}

/** For `.option(…)`: the flag and its description. */
export const quietOption: readonly [string, string] = [
  '-q, --quiet',
  'say nothing unless something goes wrong',
]

const redrawMs = 100
/** Delay of the first plain line: commands that are shorter print none. */
const firstLineMs = 2_000
const lineEveryMs = 10_000
/** Time span that the rate is measured over. */
const windowMs = 5_000

/** Starts to show progress. The caller must call `end` in any case. */
export function startProgress(label: string, options: ProgressOptions = {}): Progress {
  const { format = formatBytes } = options
  const isDrawn = process.stderr.isTTY && process.env['TERM'] !== 'dumb'
  const samples = [{ atMs: performance.now(), done: 0 }]
  let { total } = options
  let done = 0
  let note = ''
  let drawn: Ora | undefined
  let timer: NodeJS.Timeout | undefined
  let isOver = false

  function state(): ProgressState {
    const now = performance.now()
    samples.push({ atMs: now, done })
    while (samples.length > 2 && now - (samples[1]?.atMs ?? now) > windowMs) samples.shift()
    const [first] = samples
    const perSecond =
      first === undefined || now - first.atMs < 500
        ? undefined
        : ((done - first.done) * 1000) / (now - first.atMs)
    return { label: printable(label), done, total, perSecond, note: printable(note) }
  }

  /** Leaves three columns for the spinner and the cursor. */
  const drawing = (): string => progressText(state(), (process.stderr.columns ?? 80) - 3, format)

  function draw(): void {
    if (drawn !== undefined) drawn.text = drawing()
  }

  async function startDrawing(): Promise<void> {
    const { default: ora } = await import('ora')
    if (isOver) return
    // ora divides by the terminal's width to count the lines it clears: with width 0 (`ssh -tt` in a script) it never ends.
    if (process.stderr.columns === 0) {
      timer = setTimeout(line, firstLineMs).unref()
      return
    }
    const isPlain = (process.env['NO_COLOR'] ?? '') !== ''
    drawn = ora({
      text: drawing(),
      color: isPlain ? false : 'cyan',
      interval: redrawMs,
      // `put -` reads stdin.
      discardStdin: false,
      isEnabled: true,
    }).start()
    timer = setInterval(draw, redrawMs).unref()
  }

  function line(): void {
    const hasNews = (total ?? 0) > 0 || done > 0 || note !== ''
    if (hasNews) console.error(plainText(state(), format))
    timer = setTimeout(line, lineEveryMs).unref()
  }

  function printAbove(write: () => void): void {
    drawn?.clear()
    write()
    drawn?.render()
  }

  if (options.isQuiet !== true) {
    timer = isDrawn
      ? setTimeout(() => void startDrawing(), 2 * redrawMs).unref()
      : setTimeout(line, firstLineMs).unref()
  }

  return {
    expect: (count) => void (total = (total ?? 0) + count),
    add: (count) => void (done += count),
    set: (newDone, newTotal) => void ([done, total] = [newDone, newTotal]),
    setNote: (newNote) => void (note = newNote),
    printLine: (text) => printAbove(() => console.error(text)),
    printAbove,
    end() {
      isOver = true
      clearTimeout(timer)
      drawn?.stop()
      drawn = undefined
    },
  }
}
