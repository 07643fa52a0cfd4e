// The medians as a table in Markdown.

import { processorRows, rows, writeBackRows } from './workloads.mjs'

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * `samples`: {delayMs, column, row, seconds | text}. Answers medians by delay, row and column; a string where no round
 * gave a number.
 */
export function mediansOf(samples) {
  const medians = {}
  const key = ({ delayMs, row, column }) => [delayMs, row, column].join('\0')
  const grouped = Map.groupBy?.(samples, key) ?? groupBy(samples, key)
  for (const all of grouped.values()) {
    const { delayMs, row, column } = all[0]
    const numbers = all.map(({ value }) => value).filter((value) => typeof value === 'number')
    const value =
      numbers.length > all.length / 2
        ? median(numbers)
        : all.find(({ value }) => typeof value === 'string').value
    ;((medians[delayMs] ??= {})[row] ??= {})[column] = value
  }
  return medians
}

/** How many times as fast docmount is as the best of its peers; undefined where there is none to compare with. */
export function ratioOf(values, column, peers) {
  const own = values[column]
  const others = peers.map((peer) => values[peer]).filter((value) => typeof value === 'number')
  if (typeof own !== 'number' || others.length === 0) return undefined
  return Math.min(...others) / own
}

export function tableOf(medians, delayMs, { peers, limits, megabits }) {
  const columns = ['docmount', 'docmount -w0', ...peers, ...limits]
  const lines = [
    `| seconds at ${delayMs} ms${megabits === undefined ? '' : ` and ${megabits} Mbit/s`} | docmount | with \`--close-wait 0\` | ${[...peers, ...limits.map((name) => `limit: ${name}`)].join(' | ')} | docmount against the best peer |`,
    `|---|${columns.map(() => '--:').join('|')}|--:|`,
  ]
  for (const [row, title] of Object.entries(rows)) {
    const values = medians[delayMs]?.[row]
    if (values === undefined) continue
    const ratios = [ratioOf(values, 'docmount', peers)]
    if (writeBackRows.includes(row)) ratios.push(ratioOf(values, 'docmount -w0', peers))
    const shown = ratios
      .filter((ratio) => ratio !== undefined)
      .map((ratio) => `${ratio.toFixed(ratio < 10 ? 1 : 0)}×`)
    lines.push(
      `| ${title} | ${columns.map((column) => cell(values[column])).join(' | ')} | ${shown.join(' / ')} |`,
    )
  }
  return lines.join('\n')
}

export function costsTable(costs, { peers }) {
  const columns = ['docmount', 'docmount -w0', ...peers].filter((column) => costs[column] !== undefined)
  return [
    `| daemon, whole run | ${columns.map((column) => (column === 'docmount -w0' ? 'with `--close-wait 0`' : column)).join(' | ')} |`,
    `|---|${columns.map(() => '--:').join('|')}|`,
    `| most memory resident, MiB | ${columns.map((column) => (costs[column].peakBytes / 1024 ** 2).toFixed(0)).join(' | ')} |`,
    `| processor seconds per round | ${columns.map((column) => costs[column].cpuSeconds.toFixed(1)).join(' | ')} |`,
  ].join('\n')
}

/** Processor seconds of whoever serves the mount; medians over rounds and delays. `samples`: {column, row, cpuSeconds}. */
export function processorTable(samples, { peers, shape }) {
  const columns = ['docmount', 'docmount -w0', ...peers]
  const lines = []
  for (const [row, { title, unitsOf }] of Object.entries(processorRows)) {
    const own = samples.filter((sample) => sample.row === row && sample.cpuSeconds !== undefined)
    if (own.length === 0) continue
    const values = columns.map((column) => {
      const seconds = own.filter((sample) => sample.column === column).map(({ cpuSeconds }) => cpuSeconds)
      return seconds.length === 0 ? undefined : median(seconds) / unitsOf(shape)
    })
    lines.push(`| ${title} | ${values.map(cell).join(' | ')} |`)
  }
  if (lines.length === 0) return ''
  const head = columns.map((column) => (column === 'docmount -w0' ? 'with `--close-wait 0`' : column))
  return [
    `| processor seconds | ${head.join(' | ')} |`,
    `|---|${columns.map(() => '--:').join('|')}|`,
    ...lines,
  ].join('\n')
}

/** Least and most of each row of each column, where there was more than one round. */
export function spreadTable(samples, delayMs, columns) {
  const lines = []
  for (const [row, title] of Object.entries(rows)) {
    const cells = columns.map((column) => {
      const own = samples.filter((one) => one.delayMs === delayMs && one.row === row && one.column === column)
      const numbers = own.map(({ value }) => value).filter((value) => typeof value === 'number')
      return numbers.length < 2 ? '' : `${cell(Math.min(...numbers))} – ${cell(Math.max(...numbers))}`
    })
    if (cells.some((text) => text !== '')) lines.push(`| ${title} | ${cells.join(' | ')} |`)
  }
  if (lines.length === 0) return ''
  return [
    `| least – most, ${delayMs} ms | ${columns.join(' | ')} |`,
    `|---|${columns.map(() => '--:').join('|')}|`,
    ...lines,
  ].join('\n')
}

function cell(value) {
  if (value === undefined) return ''
  if (typeof value === 'string') return value.startsWith('failed') ? 'failed' : value
  return value < 0.1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value.toFixed(1)
}

/** Map.groupBy came with Node 21. */
function groupBy(items, key) {
  const groups = new Map()
  for (const item of items) {
    const found = groups.get(key(item))
    if (found === undefined) groups.set(key(item), [item])
    else found.push(item)
  }
  return groups
}
