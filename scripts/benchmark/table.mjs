// The medians as a table in Markdown.

import { rows, writeBackRows } from './workloads.mjs'

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

export function tableOf(medians, delayMs, { peers, limits }) {
  const columns = ['docmount', 'docmount -w0', ...peers, ...limits]
  const lines = [
    `| seconds at ${delayMs} ms | docmount | with \`--close-wait 0\` | ${[...peers, ...limits.map((name) => `limit: ${name}`)].join(' | ')} | docmount against the best peer |`,
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
