// Progress for a person who waits, on stderr: a line drawn anew on a terminal, else a plain line now and then, and
// nothing where they asked for quiet. The only user of ora.

import type { Ora } from 'ora'
import { formatBytes } from '../amounts.ts'
import { printable } from '../printable.ts'
import { plainText, type ProgressState, progressText } from './progress-text.ts'

export interface Progress {
  /** So much more is to be done than was known. */
  expect(count: number): void
  /** So much more is done; less than nothing takes back what has to be done again. */
  add(count: number): void
  set(done: number, total: number | undefined): void
  /** Replaces the words behind the figures. */
  tell(words: string): void
  /** A line that stays, also when quiet: what went wrong. */
  say(line: string): void
  /** Writes what goes above the line that is drawn. */
  beside(write: () => void): void
  /** Takes the drawn line away. */
  end(): void
}

export interface ProgressOptions {
  readonly total?: number | undefined
  /** How a number is written. Default: bytes. */
  readonly format?: (count: number) => string
  readonly isQuiet?: boolean | undefined
}

/** For `.option(…)`: the flag and its description. */
export const quietOption: readonly [string, string] = [
  '-q, --quiet',
  'say nothing unless something goes wrong',
]

const redrawMs = 100
/** Shorter waits show no line. */
const firstLineMs = 2_000
const lineEveryMs = 10_000
/** The rate is that of the last seconds. */
const windowMs = 5_000

/** Begins to show something; call `end` in any case. */
export function startProgress(label: string, options: ProgressOptions = {}): Progress {
  const { format = formatBytes } = options
  const isDrawn = process.stderr.isTTY && process.env['TERM'] !== 'dumb'
  const samples = [{ atMs: performance.now(), done: 0 }]
  let { total } = options
  let done = 0
  let words = ''
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
    return { label: printable(label), done, total, perSecond, words: printable(words) }
  }

  /** Three columns are the spinner's and the cursor's. */
  const drawing = (): string => progressText(state(), (process.stderr.columns ?? 80) - 3, format)

  function draw(): void {
    if (drawn !== undefined) drawn.text = drawing()
  }

  async function startDrawing(): Promise<void> {
    const { default: ora } = await import('ora')
    if (isOver) return
    // By its width ora counts the lines that it draws over: where a terminal has none (`ssh -tt` in a script), it never comes to an end.
    if (process.stderr.columns === 0) {
      timer = setTimeout(line, firstLineMs).unref()
      return
    }
    const isPlain = (process.env['NO_COLOR'] ?? '') !== ''
    drawn = ora({
      text: drawing(),
      color: isPlain ? false : 'cyan',
      interval: redrawMs,
      // It is what `put -` reads.
      discardStdin: false,
      isEnabled: true,
    }).start()
    timer = setInterval(draw, redrawMs).unref()
  }

  function line(): void {
    const hasNews = (total ?? 0) > 0 || done > 0 || words !== ''
    if (hasNews) console.error(plainText(state(), format))
    timer = setTimeout(line, lineEveryMs).unref()
  }

  /** Prints above the line that is drawn. */
  function beside(write: () => void): void {
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
    tell: (newWords) => void (words = newWords),
    say: (said) => beside(() => console.error(said)),
    beside,
    end() {
      isOver = true
      clearTimeout(timer)
      drawn?.stop()
      drawn = undefined
    },
  }
}
