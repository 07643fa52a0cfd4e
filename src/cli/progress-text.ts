// Text of a progress line: label, bar, percent, amounts, rate, time left, note.

import { secondsText } from '../amounts.ts'

export interface ProgressState {
  readonly label: string
  readonly done: number
  /** Undefined or 0: unknown. */
  readonly total: number | undefined
  /** Undefined: not known yet. */
  readonly perSecond: number | undefined
  /** More text, behind the figures; empty: none. */
  readonly note: string
}

const barWidths = [24, 12]

/** Returns the line without a bar, for logs of scripts. */
export function plainText(state: ProgressState, format: (count: number) => string): string {
  return [state.label, ...figuresOf(state, format), state.note].filter((part) => part !== '').join('  ')
}

/** Returns the longest line that fits `columns`: with a shorter bar, then none, then no note, then a shortened label. */
export function progressText(
  state: ProgressState,
  columns: number,
  format: (count: number) => string,
): string {
  const { label, total } = state
  const figures = figuresOf(state, format)
  const bars =
    total === undefined || total === 0 ? [] : barWidths.map((width) => bar(state.done / total, width))
  const lines = [
    ...bars.map((drawn) => [label, drawn, ...figures, state.note].filter((part) => part !== '').join('  ')),
    plainText(state, format),
    plainText({ ...state, note: '' }, format),
  ]
  const fitting = lines.find((line) => line.length <= columns)
  if (fitting !== undefined) return fitting
  const rest = figures.join('  ')
  const labelWidth = columns - rest.length - 3
  return labelWidth > 0 ? `${label.slice(0, labelWidth)}…  ${rest}` : rest.slice(0, columns)
}

function figuresOf({ done, total, perSecond }: ProgressState, format: (count: number) => string): string[] {
  const isKnown = total !== undefined && total > 0
  const left = isKnown && perSecond !== undefined && perSecond > 0 ? (total - done) / perSecond : undefined
  return [
    ...(isKnown ? [`${percentOf(done, total)} %`] : []),
    amountText(done, isKnown ? total : undefined, format),
    ...(perSecond === undefined || perSecond <= 0 ? [] : [`${format(Math.round(perSecond))}/s`]),
    ...(left === undefined || left <= 0 ? [] : [`${secondsText(left)} left`]),
  ]
}

function amountText(done: number, total: number | undefined, format: (count: number) => string): string {
  return total === undefined ? format(done) : `${format(done)} of ${format(total)}`
}

/** Rounds down, so that 100 means all is done. */
function percentOf(done: number, total: number): number {
  return done >= total ? 100 : Math.max(0, Math.min(99, Math.floor((100 * done) / total)))
}

function bar(fraction: number, width: number): string {
  const full = Math.max(0, Math.min(width, Math.floor(fraction * width)))
  return '█'.repeat(full) + '░'.repeat(width - full)
}
