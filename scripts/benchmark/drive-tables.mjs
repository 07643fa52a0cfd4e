// Tables of the samples that `drive.mjs` has measured.

import { processorRows, rows, writeBackRows } from './drive-workloads.mjs'
import { median, secondsCell, tableOf } from './table.mjs'

/** Returns the medians of `samples` ({delayMs, column, row, value}) by delay, row and column; a text if most are no numbers. */
export function mediansOf(samples) {
  const all = new Map()
  for (const sample of samples) {
    const key = [sample.delayMs, sample.row, sample.column].join('\0')
    all.set(key, [...(all.get(key) ?? []), sample])
  }
  const medians = {}
  for (const own of all.values()) {
    const { delayMs, row, column } = own[0]
    const values = own.map(({ value }) => value)
    const numbers = values.filter((value) => typeof value === 'number')
    const text = values.find((value) => typeof value === 'string')
    const value = numbers.length > own.length / 2 ? median(numbers) : text
    ;((medians[delayMs] ??= {})[row] ??= {})[column] = value
  }
  return medians
}

export function drivesTable(medians, delayMs, { peers, megabits }) {
  const columns = ['docmount', 'docmount -w0', ...peers]
  const way = megabits === undefined ? '' : ` and ${megabits} Mbit/s`
  const head = [`seconds at ${delayMs} ms${way}`, ...columns.map(titleOf), 'docmount against the best peer']
  const lines = Object.entries(rows).flatMap(([row, title]) => {
    const values = medians[delayMs]?.[row]
    if (values === undefined) return []
    const own = writeBackRows.has(row) ? ['docmount', 'docmount -w0'] : ['docmount']
    const ratios = own.map((column) => ratioOf(values, column, peers)).filter((ratio) => ratio !== undefined)
    const told = ratios.map((ratio) => `${ratio.toFixed(ratio < 10 ? 1 : 0)}×`).join(' / ')
    return [[title, ...columns.map((column) => secondsCell(values[column])), told]]
  })
  return tableOf(head, lines)
}

/** Returns how many times as fast docmount is as its best peer; undefined without a peer to compare with. */
function ratioOf(values, column, peers) {
  const others = peers.map((peer) => values[peer]).filter((value) => typeof value === 'number')
  if (typeof values[column] !== 'number' || others.length === 0) return undefined
  return Math.min(...others) / values[column]
}

/** Returns the table of the daemons' processor seconds: medians over rounds and delays. */
export function processorTable(samples, { peers, shape }) {
  const columns = ['docmount', 'docmount -w0', ...peers]
  const lines = Object.entries(processorRows).flatMap(([row, { title, unitsOf }]) => {
    const own = samples.filter((sample) => sample.row === row && sample.cpuSeconds !== undefined)
    if (own.length === 0) return []
    const cells = columns.map((column) => {
      const seconds = own.filter((sample) => sample.column === column).map(({ cpuSeconds }) => cpuSeconds)
      return secondsCell(seconds.length === 0 ? undefined : median(seconds) / unitsOf(shape))
    })
    return [[title, ...cells]]
  })
  return lines.length === 0 ? '' : tableOf(['processor seconds', ...columns.map(titleOf)], lines)
}

/** Returns the table of each daemon's peak memory. */
export function costsTable(costs) {
  const columns = [...new Set(costs.map(({ column }) => column))]
  const most = (column) =>
    Math.max(...costs.filter((one) => one.column === column).map(({ peakBytes }) => peakBytes)) / 1024 ** 2
  const line = ['most memory resident, MiB', ...columns.map((column) => most(column).toFixed(0))]
  return tableOf(['daemon', ...columns.map(titleOf)], [line])
}

const titleOf = (column) => (column === 'docmount -w0' ? 'with `--close-wait 0`' : column)
