// Medians, and tables in Markdown.

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Returns a table: the first `wordColumns` columns are left-aligned, the others right-aligned. */
export function tableOf(head, rows, wordColumns = 1) {
  const rule = head.map((_, at) => (at < wordColumns ? '---' : '--:')).join('|')
  return [`| ${head.join(' | ')} |`, `|${rule}|`, ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')
}

/** Returns seconds with suitable digits; empty for undefined, and a text as it is. */
export function secondsCell(value) {
  if (value === undefined) return ''
  if (typeof value === 'string') return value.startsWith('failed') ? 'failed' : value
  return value < 0.1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value.toFixed(1)
}

export async function timed(work) {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}
